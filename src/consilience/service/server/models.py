"""What the REST interface takes and gives. The texts are those of its documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from consilience.data.kinds import Kind
from consilience.service.settings import MOST_DATASETS, MOST_LEVELS, MOST_NAME, MOST_UNIT, VariableSpec
from consilience.settings.declaration import MOST_VARIABLES, NETWORK_SETTINGS
from consilience.settings.field import Setting

__all__ = [
    "AccountIn",
    "AccountOut",
    "AgainOut",
    "AuditOut",
    "CopyIn",
    "DeletionOut",
    "EndedOut",
    "EventOut",
    "HeardOut",
    "InvitationIn",
    "InvitationOut",
    "InvitationPending",
    "JoinIn",
    "JoinOut",
    "LoginIn",
    "LoginOut",
    "MemberIn",
    "MemberOut",
    "PasswordIn",
    "Problem",
    "ReceivedOut",
    "RerunIn",
    "ResetIn",
    "SessionOut",
    "SettingsChange",
    "SettingsModel",
    "SiteIn",
    "SiteKeyOut",
    "SiteOut",
    "SiteTotalsOut",
    "StudyIn",
    "StudyOut",
    "TransferIn",
    "VariableModel",
    "WithdrawIn",
    "WithdrawnOut",
]

Text = Annotated[str, StringConstraints(min_length=1, max_length=MOST_NAME)]
SiteName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")]
StudyId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Hex64 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Hex128 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(_Body):
    """Why something was not done."""

    error: str = Field(description="The cause's name.", examples=["LifeCycleError"])
    message: str = Field(description="The rule, what was received, and the way out.")


class LoginIn(_Body):
    """An account's name and password."""

    name: Annotated[str, StringConstraints(max_length=64)]
    password: Annotated[str, StringConstraints(max_length=1024)]


class LoginOut(_Body):
    """A token for the header `Authorization: Bearer …`."""

    token: str
    expires: float = Field(description="Seconds since 1970 when it ends.")


Key = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Password = Annotated[str, StringConstraints(max_length=1024)]


class ResetIn(_Body):
    """Another password, by a one-time link."""

    key: Key = Field(description="What stands behind the `#` of the link.")
    password: Password = Field(description="The new one; 12 characters at least.")


AccountName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class AccountIn(_Body):
    """A new account, by a one-time link."""

    key: Key = Field(description="What stands behind the `#` of the link.")
    name: AccountName = Field(description="Letters, digits, dots, hyphens and underscores.")
    password: Password = Field(description="12 characters at least.")


class AccountOut(_Body):
    """An account that was made."""

    name: str
    role: str = Field(description="`owner`, `observer` or `observer-of-all`.")


class PasswordIn(_Body):
    """Another password for one's own account."""

    old: Password
    new: Password = Field(description="12 characters at least.")


class SessionOut(_Body):
    """Somebody who is logged in to your account."""

    id: str = Field(description="Names it; it cannot be used to log in.")
    kind: Literal["browser", "program"]
    agent: str = Field(description="What it calls itself, shortened.")
    address: str = Field(description="Where it logged in from; empty for one from before that was kept.")
    created: float
    seen: float = Field(description="Its last request, to a minute.")
    expires: float
    this: bool = Field(description="Whether it is the one that asks.")


class EndedOut(_Body):
    """How many sessions and tokens were ended."""

    ended: int


class VariableModel(_Body):
    """A variable of the study."""

    name: Text
    kind: Kind
    levels: list[Text] = Field(
        default_factory=list, max_length=MOST_LEVELS, description="In order; for discrete kinds. Binary: 0 and 1 if left out."
    )
    unit: Annotated[str, StringConstraints(max_length=MOST_UNIT)] = Field("", description="Of numbers: what they are measured in.")
    range: tuple[float | None, float | None] | None = Field(
        None, description="Of numbers: between which values they are, null for an open end. A site with others is refused."
    )

    @classmethod
    def of(cls, spec: VariableSpec) -> VariableModel:
        """From a variable that is stored."""
        ends = None if spec.low is None and spec.high is None else (spec.low, spec.high)
        return cls(name=spec.name, kind=spec.kind, levels=list(spec.levels), unit=spec.unit, range=ends)

    def spec(self) -> VariableSpec:
        """As it is stored."""
        return VariableSpec(self.name, Kind(self.kind), tuple(self.levels), self.unit, *(self.range or (None, None)))


def _field(setting: Setting) -> tuple[Any, Any]:
    """A setting as a field of a model: its type and default, with the declaration's words and bounds."""
    kind: Any = setting.type
    if setting.is_choice:
        kind = Literal[setting.choices]
    elif get_origin(setting.type) is tuple:
        kind = list[list[Text]] if get_origin(get_args(setting.type)[0]) is tuple else list[Text]
    about: dict[str, Any] = {"description": setting.about.doc, **setting.about.bounds}
    if isinstance(setting.default, tuple):
        return kind, Field(default_factory=list, **about)
    return (kind | None if setting.optional else kind), Field(default=setting.plain_default, **about)


if TYPE_CHECKING:
    _Declared = _Body
else:
    _Declared = create_model("_Declared", __base__=_Body, **{name: _field(setting) for name, setting in NETWORK_SETTINGS.items()})


class SettingsModel(_Declared):
    """How the study is done. Sites see all of it before they consent."""


def _change(setting: Setting) -> tuple[Any, Any]:
    """A setting as a field that may be left out, which is to leave it as it was."""
    kind, field = _field(setting)
    field.default, field.default_factory = None, None
    return kind | None, field


if TYPE_CHECKING:
    _Changed = _Body
else:
    _Changed = create_model("_Changed", __base__=_Body, **{name: _change(setting) for name, setting in NETWORK_SETTINGS.items()})


class SettingsChange(_Changed):
    """Settings that are to be others than they were; those that are left out stay."""


class RerunIn(_Body):
    """What is to be other when a study is done once more."""

    settings: SettingsChange = Field(default_factory=SettingsChange)


class CopyIn(RerunIn):
    """What is to be other in a copy."""

    name: Text | None = Field(None, description="Its name; that of the study, if left out.")


class StudyIn(_Body):
    """A study. With `variables` and `datasets` declared, nothing is asked from the sites but sums: the private way, to be preferred.

    Without them the sites are asked which variables they hold. **Names, kinds and levels of all of them are then told in the open.** (With
    rules on disclosure, every site states in any case which of the study's variables it contributes.)
    """

    name: Text
    variables: list[VariableModel] | None = Field(None, max_length=MOST_VARIABLES)
    datasets: list[list[Text]] | None = Field(
        None, max_length=MOST_DATASETS, description="The sets of variables that sites measure, without names of sites."
    )
    settings: SettingsModel = SettingsModel()


class SiteOut(_Body):
    """A site that has joined."""

    name: str
    fingerprint: str = Field(description="Of its identity; to be compared by other means than through this server.")
    identity: str = Field(description="Its Ed25519 public key, of which the fingerprint is made.")
    connected: bool
    declared: bool
    consented: bool
    fits: bool | None = Field(
        description="Whether its table fits the study, as it says; null while it has not said. What does not fit stays there."
    )
    withdrew: float | None = Field(description="Seconds since 1970 when it withdrew; null if it has not.")
    withdrew_reason: str = Field(description="Why it withdrew, as it says.")
    declined: str = Field(description="Why it does not consent; empty if it has not said no, or has consented since.")


class SiteIn(_Body):
    """Which site is meant."""

    site: SiteName = Field(description="Its name in the study.")


class WithdrawIn(_Body):
    """Why a site withdraws."""

    reason: Annotated[str, StringConstraints(max_length=500)] = Field("", description="For the study's owner and for who reads the result.")


class WithdrawnOut(_Body):
    """A site has withdrawn."""

    answers: int = Field(description="Answers of the site that are part of sums.")
    bytes: int = Field(description="Their length.")
    words: str = Field(description="What stays, and what becomes of the study.")


class InvitationPending(_Body):
    """An invitation that nobody has taken yet."""

    site: str
    expires: float


class AskedOut(_Body):
    """Tests that the run has asked the sites for together."""

    done: int
    total: int
    seconds_left: float | None = Field(description="Until these are done, at the pace so far; null while that would be a guess.")


class StudyOut(_Body):
    """A study as it stands."""

    id: str
    name: str
    owner: str = Field(description="The account that owns it; empty for a site.")
    role: Literal["owner", "co-owner", "observer", "site"] = Field(description="What you are in it.")
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
    asked: AskedOut | None = Field(description="Tests under way; what is asked after them depends on their answers.")
    queried: bool = Field(description="Whether the variables were asked from the sites.")
    contract: str | None = Field(
        description="Digest of the contract; before the start, of the one that it would be with these sites. Null while there can be none."
    )
    created: float
    changed: float
    origin: str = Field(description="The study that it is a copy of, or whose tests it decides again; empty if neither.")


class AgainOut(_Body):
    """What came of doing a study once more."""

    how: Literal["decided", "run", "copy"] = Field(
        description="Decided from the tests that are there (a study of its own, that becomes a draft should tests be missing); run again "
        "under its contract; or a copy, whose sites are asked for consent anew."
    )
    words: str = Field(description="Why it is that one, and what comes next.")
    study: StudyOut


class MemberIn(_Body):
    """As what an account has a study."""

    role: Literal["co-owner", "observer"]
    result: bool = Field(False, description="Whether an observer sees what the study finds; a co-owner always does.")


class MemberOut(_Body):
    """An account that has a study beside its owner."""

    account: str
    role: Literal["co-owner", "observer"]
    result: bool
    since: float


class TransferIn(_Body):
    """Who owns the study from now on."""

    account: AccountName


class AuditOut(_Body):
    """Something that an account did to a study."""

    time: float
    account: str
    action: str
    detail: str


class DeletionOut(_Body):
    """What deleting a study takes away, and what it leaves."""

    study: str
    goes: list[str]
    stays: list[str]


class InvitationIn(_Body):
    """Whom to invite, and for how long."""

    site: SiteName = Field(description="The name that the site will have in the study.")
    seconds: float = Field(604800.0, ge=60, le=7776000)


class InvitationOut(_Body):
    """The invitation. It is shown once, works once, and should go to the site on a way that both sides trust."""

    invitation: str
    expires: float


class JoinIn(_Body):
    """A site takes its invitation and binds its identity to it."""

    study: StudyId
    secret: Hex64
    identity: Hex64 = Field(description="The site's Ed25519 public key.")
    signature: Hex128 = Field(description="By that key, over the invitation's digest, the study and the server's identity.")


class JoinOut(_Body):
    """The site is in."""

    site: str


class EventOut(_Body):
    """Something that happened."""

    number: int
    time: float
    kind: str
    body: dict[str, object]


class SiteKeyOut(_Body):
    """A site and the key that it signs with."""

    name: str
    identity: str = Field(description="Its Ed25519 public key, in hexadecimal.")


class HeardOut(_Body):
    """An answer or a refusal that came from a site: its length and digest, never itself."""

    site: str
    run: str = Field(description="The first eight digits of the run's id.")
    round: int
    size: int = Field(description="Bytes of the answer; zero for a refusal.")
    digest: str = Field(description="SHA-256 of the answer as it came, masked; empty for a refusal.")
    refused: str = Field(description="What the site refused with; empty for an answer.")


class SiteTotalsOut(_Body):
    """What came from a site in all, by the server's record."""

    site: str
    answers: int
    numbers: int = Field(description="Masked numbers in these answers.")
    bytes: int
    refused: int = Field(description="Requests that the site refused.")
    runs: int


class ReceivedOut(_Body):
    """What the server says it received, to be compared with the sites' ledgers."""

    sites: list[SiteKeyOut]
    heard: list[HeardOut]
