"""What a job, a task and a start-up kit of FLARE's have of ours, by name; and the settings with which a round is not waited for."""

from __future__ import annotations

from typing import Any

__all__ = [
    "CLIENT_KNOBS",
    "CONTRACT_FILE",
    "CONTROLLER",
    "EXECUTOR",
    "MESSAGE",
    "OUTCOME_FILE",
    "RESULT",
    "RESULT_FOLDER",
    "SERVER_APP",
    "SERVER_KNOBS",
    "SETTINGS_FILE",
    "SITE_APP",
    "TASK",
    "TASK_CHECK_PERIOD",
]

TASK = "consilience"
"""The one task of a job. What is asked is in its message."""
MESSAGE, RESULT = "message", "result"
"""What a task's data have: a message of the protocol as bytes, and at the end the result's JSON, as bytes too."""
CONTROLLER = "consilience.flare.controller.StudyController"
EXECUTOR = "consilience.flare.executor.SiteExecutor"
SERVER_APP, SITE_APP = "app_server", "app_site"
CONTRACT_FILE = "contract.msgpack"
"""In the configuration of the server's app: what all sites are asked to agree to."""
SETTINGS_FILE = "consilience.toml"
"""In the folder ``local`` of a start-up kit: what its owner has set. Nothing of it comes with a job."""
RESULT_FOLDER, OUTCOME_FILE = "consilience", "outcome.json"
"""Where a job leaves its documents, and how it ended."""

TASK_CHECK_PERIOD = 0.05
"""Seconds between two looks of FLARE's controller at its tasks. It waits for nobody (answers wake the study's thread), but what is late,
and who is dead, is found then."""
SERVER_KNOBS: dict[str, Any] = {
    "server": {"task_request_interval": 0.02},
    "dead_client_grace_period": 10.0,
    "dead_client_check_lead_time": 5.0,
}
"""``task_request_interval``: how long a site waits before it asks for the next task, also after it has answered one; FLARE's default of 2 s
would be the length of a round. ``dead_client_…``: how long a site that FLARE reports as dead may take to show that it is not."""
CLIENT_KNOBS: dict[str, Any] = {
    "default_task_fetch_interval": 0.02,
    "task_check_interval": 0.5,
    "job_heartbeat_interval": 5.0,
}
"""``default_task_fetch_interval``: the same before the server has said anything. ``task_check_interval``: how soon an answer that could not
be sent is sent again."""
