"""Fragments for a page, asked from Sluice by the Hypernova protocol: one request for all of them.

Whatever goes wrong, each job has markup: the server's HTML, or a placeholder with the data, from which the browser renders
the component. This module must not know pages.
"""

import json
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.request import Request, urlopen

ANSWER_BYTES_MAX = 4 * 1024 * 1024


@dataclass(frozen=True)
class Job:
    """One component with its data. `placeholder` is HTML of the host's own, shown until the browser has rendered."""

    name: str
    data: dict[str, Any]
    placeholder: str = ""


@dataclass(frozen=True)
class Fragment:
    html: str
    # Why the server's HTML is not there; None where it is.
    fault: str | None = None


class Fragments:
    """A client. `timeout_s` is for the whole batch, from the first byte sent to the last one read."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        # urllib's own limit is for each read, so an answer that comes byte by byte would hold the page for as long as it
        # likes. A thread that nobody waits for any more ends by that limit.
        self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="fragments")

    def render(self, jobs: dict[str, Job]) -> dict[str, Fragment]:
        """HTML of every job, by its token. Never raises."""
        asked: Future[dict[str, Any]] = self._threads.submit(self._ask, jobs)
        try:
            results = asked.result(timeout=self._timeout_s)
        except TimeoutError:
            asked.cancel()
            return {token: fall_back(job, f"late: no answer after {self._timeout_s} s") for token, job in jobs.items()}
        except Exception as error:  # Refused, cut off, no JSON: for the page it is all the same.
            return {token: fall_back(job, f"no answer: {error}") for token, job in jobs.items()}
        return {token: _fragment(job, results.get(token)) for token, job in jobs.items()}

    def _ask(self, jobs: dict[str, Job]) -> dict[str, Any]:
        batch = {token: {"name": job.name, "data": job.data} for token, job in jobs.items()}
        request = Request(self._url, json.dumps(batch).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=self._timeout_s) as answer:
            results = json.loads(answer.read(ANSWER_BYTES_MAX))["results"]
        if not isinstance(results, dict):
            raise ValueError("the answer has no results")
        return results


def _fragment(job: Job, result: Any) -> Fragment:
    # Empty HTML is a success: a component may show nothing.
    if isinstance(result, dict) and result.get("success") is True and isinstance(result.get("html"), str):
        return Fragment(result["html"])
    error = result.get("error") if isinstance(result, dict) else None
    message = error.get("message") if isinstance(error, dict) else "no result"
    return fall_back(job, f"failed: {message}")


def fall_back(job: Job, fault: str) -> Fragment:
    """Markup as the server's, with the placeholder for HTML: the browser finds both in the same way."""
    key = "".join(character for character in job.name if character.isalnum() or character == "_")
    names = f'data-hypernova-key="{escape(key)}" data-hypernova-id="{uuid.uuid4()}"'
    data = json.dumps(job.data)
    # Browsers undo `&amp;` and `&gt;` before they parse. `\u003c` is JSON's own: no data can end the script, or begin one.
    for character, written in (("&", "&amp;"), (">", "&gt;"), ("<", "\\u003c")):
        data = data.replace(character, written)
    html = (
        f"<div {names} data-placeholder>{job.placeholder}</div>\n"
        f'<script type="application/json" {names}><!--{data}--></script>'
    )
    return Fragment(html, fault)
