"""A site as FLARE's executor. It takes no argument from a job: whose table, which consent and which folder are the site's own settings."""

from __future__ import annotations

from pathlib import Path

from nvflare.apis.event_type import EventType
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.apis.signal import Signal

from consilience.errors import ConsilienceError, ProtocolError
from consilience.flare.kit import site_settings
from consilience.flare.names import MESSAGE, RESULT, TASK
from consilience.flare.participant import Participant
from consilience.wording import printable

__all__ = ["SiteExecutor"]


class SiteExecutor(Executor):  # type: ignore[misc]  # FLARE has no types
    """Answers a task's message with the site's own, both as bytes in a ``Shareable``."""

    def __init__(self) -> None:
        super().__init__()
        self._participant: Participant | None = None

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        """FLARE's door: one task, one answer. What cannot be answered is an error without words; they are in this site's log."""
        del abort_signal  # one answer takes seconds, and a site that is ended in the middle has nothing to tidy up
        try:
            data, result = shareable.get(MESSAGE), shareable.get(RESULT, b"")
            if task_name != TASK or not isinstance(data, bytes) or not isinstance(result, bytes):
                raise ProtocolError(f"A task {TASK!r} has a message in bytes; got {task_name!r} with {type(data).__name__}.")
            participant = self._part(fl_ctx)
            if result:
                for path in participant.keep(result):
                    self.log_info(fl_ctx, f"written: {path}")
            return Shareable({MESSAGE: participant.answer(data)})
        except ConsilienceError as error:
            self.log_error(fl_ctx, printable(f"{type(error).__name__}: {error}"))
            return make_reply(ReturnCode.EXECUTION_EXCEPTION)

    def _part(self, fl_ctx: FLContext) -> Participant:
        if self._participant is None:
            settings = site_settings(Path(fl_ctx.get_workspace().get_site_config_dir()))
            self._participant = Participant(fl_ctx.get_identity_name(), settings, lambda words: self.log_info(fl_ctx, words))
        return self._participant

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """When the job is over, the study's folder is free again."""
        del fl_ctx
        if event_type == EventType.END_RUN and self._participant is not None:
            self._participant.close()
