"""The same invariants over the embedded voice: its model's other end is the engine itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
import pytest_asyncio

from relay.providers.embedded import EmbeddedModel
from tests.fakes.talks import Talk, eventually
from tests.providers.contract.invariants import INVARIANTS, Invariant
from tests.providers.contract.peers import Opener, Peer, Plan

pytestmark = [pytest.mark.voice, pytest.mark.asyncio(loop_scope="module")]
SMALL_TALK = "tell me something about yourself"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[EmbeddedModel]:
    model = EmbeddedModel()
    await model.start()
    await eventually(lambda: model.ready)
    yield model
    await model.stop()


class EmbeddedPeer:
    """Says words that make the engine do what was planned."""

    def __init__(self, model: EmbeddedModel, plan: Plan) -> None:
        self.model = model
        self._plan = plan
        self._talk: Talk | None = None

    async def play(self, talk: Talk) -> None:
        self._talk = talk
        for _, args in self._plan.calls:
            before = len(talk.frames)
            await talk.live.send_text(f"add {args['points']} points to the home team")
            await eventually(lambda before=before: len(talk.frames) > before)
            if len(self._plan.calls) > 1:
                await eventually(lambda before=before: len(talk.frames) == before + 2)
        if self._plan.sound_ms:
            await talk.live.send_text(SMALL_TALK)

    def answered(self, talk: Talk) -> list[Any]:
        return [{"result": orjson.loads(str(one.output))} for one in talk.done() if one.delivered]

    def configuration(self) -> Any:
        return None

    def heard(self) -> bytes:
        raise NotImplementedError

    def is_open(self) -> bool:
        return self._talk is not None and not vars(self._talk.live)["_closed"]

    async def lose(self) -> None:
        assert self._talk is not None
        await self._talk.live.close()


@pytest.fixture
def peer_of(model: EmbeddedModel) -> Opener:
    @asynccontextmanager
    async def opened(plan: Plan) -> AsyncIterator[Peer]:
        await asyncio.sleep(0)
        yield EmbeddedPeer(model, plan)

    return opened


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda one: one.__name__)
async def test_it_holds(peer_of: Opener, invariant: Invariant) -> None:
    await invariant(peer_of)
