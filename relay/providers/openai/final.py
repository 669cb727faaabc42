"""Errors of OpenAI after which nothing but another key, model or account helps; pure."""

from relay.providers import loss
from relay.providers.loss import Lost
from relay.providers.openai.events import Failed
from relay.providers.secret import Secret, scrub

_FINAL = {
    "beta_api_shape_disabled": loss.REFUSED,
    "model_not_found": loss.REFUSED,
    "invalid_api_key": loss.KEY_REFUSED,
    "insufficient_quota": loss.BUSY,
}


def raise_if_final(event: Failed, key: Secret | None) -> None:
    """Raises: Lost when no new connection would mend the error."""
    code = _FINAL.get(event.code)
    if code is not None:
        raise Lost(code, f"OpenAI: {scrub(event.message or event.code, key)}", retry=False)
