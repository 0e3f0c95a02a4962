"""A headless Chromium, told what to do through its DevTools protocol over a pair of pipes; only the standard library."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from heddle_command import BUILD


def find():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def missing():
    """Why a page of this build cannot be tried, or None."""
    page = BUILD / "tools" / "study" / "report" / "page" / "page.html"
    if not page.exists() or page.stat().st_size == 0:
        return "this build has no report page: npm is missing, or could not fetch the packages"
    return None if find() else "Chromium is not installed (tools/install-packages report)"


class Browser:
    """A window with one page. Everything that the page asks the network for, or reports, is kept."""

    def __init__(self, width=1440, height=900, dark=False):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        here, there = os.pipe(), os.pipe()  # to the browser, from it

        def place():  # the protocol's pipes are descriptors 3 and 4
            os.dup2(os.dup(here[0]), 103)
            os.dup2(os.dup(there[1]), 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self._process = subprocess.Popen(
            [
                find(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--force-device-scale-factor=1",
                "--remote-debugging-pipe",
                f"--user-data-dir={self._profile.name}",
                "about:blank",
            ],
            preexec_fn=place,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(here[0])
        os.close(there[1])
        self._to, self._from, self._rest, self._next = here[1], there[0], b"", 0
        self._session = None
        self.requests, self.errors = [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )
        self.size(width, height)
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        try:
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        self._process.wait(timeout=20)
        self._profile.cleanup()

    def call(self, method, **parameters):
        """One command of the protocol and its answer."""
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if self._session is not None and not method.startswith("Browser."):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _read(self):
        while b"\0" not in self._rest:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise EOFError("the browser has gone")
            self._rest += more
        line, self._rest = self._rest.split(b"\0", 1)
        event = json.loads(line)
        parameters = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:")):
                self.requests.append(url)
        elif event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        return event

    def size(self, width, height):
        """Sets the size of the window, in pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path):
        """Opens a file."""
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())

    def value(self, expression):
        """What a JavaScript expression gives; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=30):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + seconds
        while not (value := self.value(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}; errors: {self.errors}")
            time.sleep(0.05)
        return value

    def key(self, name):
        """Presses a key, such as ArrowRight."""
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Tab": 9}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                windowsVirtualKeyCode=codes[name],
                **({"text": "\r"} if name == "Enter" and kind == "keyDown" else {}),
            )

    def screenshot(self, path, clip=None):
        """Writes a picture of the window, or of an element (a CSS selector), as PNG."""
        options = {}
        if clip is not None:
            box = self.value(
                f"(() => {{ const r = document.querySelector({json.dumps(clip)}).getBoundingClientRect();"
                "return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height} })()"
            )
            options = {"clip": {**box, "scale": 1}, "captureBeyondViewport": True}
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def pdf(self, path):
        """Prints the page."""
        pathlib.Path(path).write_bytes(
            base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
        )
