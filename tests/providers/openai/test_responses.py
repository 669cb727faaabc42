from relay.providers.openai.responses import Responses


def test_what_was_added_is_asked_about_once() -> None:
    responses = Responses()
    responses.add("item_1")
    request = responses.request()
    assert request is not None
    assert responses.request() is None
    assert responses.created("r1", request)
    responses.done("r1")
    assert responses.request() is None
    assert responses.idle


def test_nothing_is_asked_for_while_a_response_is_being_written() -> None:
    responses = Responses()
    responses.created("r1", None)
    responses.add("item_1")
    assert responses.request() is None
    responses.done("r1")
    assert responses.request() is not None


def test_the_answers_of_one_response_wait_for_each_other() -> None:
    responses = Responses()
    responses.created("r1", None)
    responses.called("r1", "c1")
    responses.called("r1", "c2")
    responses.done("r1")
    responses.add("c1", batch="r1")
    responses.answered("r1", "c1")
    assert responses.request() is None
    responses.add("c2", batch="r1")
    responses.answered("r1", "c2")
    assert responses.request() is not None
    assert responses.request() is None


def test_a_typed_turn_does_not_wait_for_a_slow_tool() -> None:
    responses = Responses()
    responses.created("r1", None)
    responses.called("r1", "c1")
    responses.done("r1")
    responses.add("item_1")
    assert responses.request() is not None


def test_a_busy_server_is_asked_again_after_its_own_response() -> None:
    responses = Responses()
    responses.add("c1")
    request = responses.request()
    responses.created("r2", None)
    assert responses.refused(request, busy=True)
    assert responses.request() is None
    responses.done("r2")
    assert responses.request() is not None


def test_a_busy_server_whose_response_is_unknown_is_not_asked_in_a_loop() -> None:
    responses = Responses()
    responses.add("c1")
    assert responses.refused(responses.request(), busy=True)
    assert responses.request() is None
    responses.created("r2", None)
    responses.done("r2")
    assert responses.request() is not None


def test_what_a_later_response_of_the_server_has_seen_is_not_asked_about() -> None:
    responses = Responses()
    responses.created("r1", None)
    responses.add("c1")
    responses.settle("c1")
    responses.done("r1")
    responses.created("r2", None)
    responses.done("r2")
    assert responses.request() is None


def test_a_request_that_was_refused_for_another_reason_is_not_repeated() -> None:
    responses = Responses()
    responses.add("c1")
    assert responses.refused(responses.request(), busy=False)
    assert responses.request() is None
    assert not responses.refused("req-1", busy=False)


def test_a_server_that_echoes_no_marks_is_not_asked_forever() -> None:
    responses = Responses()
    responses.add("item_1")
    assert responses.request() is not None
    assert not responses.created("r1", None)
    responses.done("r1")
    assert responses.request() is None
    assert responses.idle


def test_what_came_after_the_request_is_asked_about_next() -> None:
    responses = Responses()
    responses.add("item_1")
    request = responses.request()
    responses.add("item_2")
    responses.created("r1", request)
    responses.done("r1")
    assert responses.request() is not None
