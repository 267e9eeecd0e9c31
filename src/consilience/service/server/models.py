"""What the REST interface takes and gives. The texts are those of its documentation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "EventOut",
    "InvitationIn",
    "InvitationOut",
    "InvitationPending",
    "JoinIn",
    "JoinOut",
    "LoginIn",
    "LoginOut",
    "Problem",
    "SettingsModel",
    "SiteOut",
    "StudyIn",
    "StudyOut",
    "VariableModel",
]

Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
SiteName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")]
StudyId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Hex64 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Hex128 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(_Model):
    """Why something was not done."""

    error: str = Field(description="The cause's name.", examples=["LifeCycleError"])
    message: str = Field(description="The rule, what was received, and the way out.")


class LoginIn(_Model):
    """An account's name and password."""

    name: Annotated[str, StringConstraints(max_length=64)]
    password: Annotated[str, StringConstraints(max_length=1024)]


class LoginOut(_Model):
    """A token for the header `Authorization: Bearer …`."""

    token: str
    expires: float = Field(description="Seconds since 1970 when it ends.")


class VariableModel(_Model):
    """A variable of the study."""

    name: Text
    kind: Literal["continuous", "binary", "ordinal", "multinomial"]
    levels: list[Text] = Field(
        default_factory=list, max_length=64, description="In order; for discrete kinds. Binary: 0 and 1 if left out."
    )


class SettingsModel(_Model):
    """How the study is done. Sites see all of it before they consent."""

    alpha: float = Field(default=0.05, gt=0, lt=1, description="Significance level of the CI decisions.")
    max_given: int | None = Field(default=None, ge=0, le=64, description="Largest conditioning set; null for no bound.")
    method: Literal["fedci", "fisher"] = Field(default="fedci", description="Common models from masked sums, or combined p-values.")
    site_effects: Literal["profiled", "coordinate", "joint", "none"] = Field(
        default="profiled", description="Where the sites' intercepts live."
    )
    ordinal: Literal["proportional", "generalized"] = Field(default="proportional", description="How ordinal responses are modelled.")
    ridge: float = Field(default=0.0, ge=0, le=1e6, description="Penalty on coefficients; 0 for none.")
    engine: Literal["exact", "iod"] = Field(default="exact", description="A constraint solver, or the published algorithm.")
    resolve: Literal["strict", "optimal"] = Field(
        default="strict", description="Where decisions contradict each other: no graph, or those that overrule the least evidence."
    )
    selection_bias: bool = Field(default=False, description="Allow for selection bias: undirected edges.")
    limit: int = Field(default=10_000, ge=1, le=1_000_000, description="Most graphs to list; the summary covers all.")
    time_limit: float = Field(default=3600.0, ge=1, le=86400, description="Most seconds to spend on graphs after the tests.")
    variant: Literal["original", "colliders", "triples"] = Field(
        default="triples", description="With `engine=iod`: which local marks guide the search."
    )
    tiers: list[list[Text]] = Field(default_factory=list, max_length=64, description="Variables in time order, if that is known.")
    required: list[Text] = Field(default_factory=list, max_length=256, description="Known to be true, such as `smoking => cancer`.")
    forbidden: list[Text] = Field(default_factory=list, max_length=256, description="Known to be false, such as `age *-* sex`.")
    batching: Literal["levels", "all"] = Field(
        default="levels",
        description="`levels` asks what the search needs, level by level; `all` asks all tests at once: more tests, fewer rounds.",
    )
    min_contributors: int = Field(default=2, ge=2, le=1000, description="No sum over fewer sites than this.")
    min_rows: int = Field(default=10, ge=1, le=10**9, description="No sum over fewer rows than this.")
    single_site: Literal["local", "refuse"] = Field(
        default="local", description="A test that one site alone can do: its statistics only, or nothing."
    )
    on_dropout: Literal["stop", "restart"] = Field(
        default="stop",
        description="When a site does not come back: stop, or restart without it, which reveals its part of finished sums.",
    )
    allow_joint: bool = Field(default=False, description="Needed for `site_effects=joint`, which discloses numbers of single sites.")
    consent_seconds: float = Field(default=604800.0, ge=1, le=31536000, description="How long the owner of a site may take to agree.")
    return_seconds: float = Field(default=900.0, ge=1, le=31536000, description="How long a site that was lost is waited for.")
    round_seconds: float = Field(default=600.0, ge=1, le=86400, description="How long one answer may take.")


class StudyIn(_Model):
    """A study. With `variables` and `datasets` declared, nothing is asked from the sites but sums: the private way, to be preferred.

    Without them the sites are asked which variables they hold. **That tells the server which site measures what**, which matters most
    where a single site can fit a model.
    """

    name: Text
    variables: list[VariableModel] | None = Field(None, max_length=64)
    datasets: list[list[Text]] | None = Field(
        None, max_length=256, description="The sets of variables that sites measure; not which site measures which."
    )
    settings: SettingsModel = SettingsModel()


class SiteOut(_Model):
    """A site that has joined."""

    name: str
    fingerprint: str = Field(description="Of its identity; to be compared by other means than through this server.")
    connected: bool
    declared: bool
    consented: bool


class InvitationPending(_Model):
    """An invitation that nobody has taken yet."""

    site: str
    expires: float


class StudyOut(_Model):
    """A study as it stands."""

    id: str
    name: str
    state: Literal["draft", "open", "running", "finished", "failed", "cancelled"]
    message: str = Field(description="Why it ended, if it did not end with a result.")
    variables: list[VariableModel] | None
    datasets: list[list[str]] | None
    settings: SettingsModel
    sites: list[SiteOut]
    invitations: list[InvitationPending]
    rounds: int
    bytes: int
    tests: int = Field(description="Results that are there.")
    created: float
    changed: float


class InvitationIn(_Model):
    """Whom to invite, and for how long."""

    site: SiteName = Field(description="The name that the site will have in the study.")
    seconds: float = Field(604800.0, ge=60, le=7776000)


class InvitationOut(_Model):
    """The invitation. It is shown once, works once, and should go to the site on a way that both sides trust."""

    invitation: str
    expires: float


class JoinIn(_Model):
    """A site takes its invitation and binds its identity to it."""

    study: StudyId
    secret: Hex64
    identity: Hex64 = Field(description="The site's Ed25519 public key.")
    signature: Hex128 = Field(description="By that key, over the invitation's digest, the study and the server's identity.")


class JoinOut(_Model):
    """The site is in."""

    site: str


class EventOut(_Model):
    """Something that happened."""

    number: int
    time: float
    kind: str
    body: dict[str, object]
