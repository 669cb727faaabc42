"""What is different between two looks at the mini-apps. Pure."""

from collections.abc import Iterator

from relay.miniapps.artifact import Artifact
from relay.protocol.messages import MiniApp, MiniAppDeleted, MiniAppNews, MiniAppsChanged
from relay.tools.tool import AppId

Known = dict[AppId, Artifact]


def differences(before: Known, after: Known, *, news_max: int) -> list[MiniAppNews]:
    """News of what is gone, new and changed; more than `news_max` are told as one."""
    news = list(_each(before, after))
    if len(news) > news_max:
        return [MiniAppsChanged(count=len(news))]
    return news


def _each(before: Known, after: Known) -> Iterator[MiniAppNews]:
    for app_id in before.keys() - after.keys():
        yield MiniAppDeleted(app_id=app_id)
    for app_id, artifact in after.items():
        if app_id not in before:
            yield MiniApp(mini_app=artifact, created=True, updated=False)
        elif artifact != before[app_id]:
            yield MiniApp(mini_app=artifact, created=False, updated=True)
