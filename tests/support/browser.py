# SPDX-License-Identifier: Apache-2.0
"""A real Chromium without a screen, and what the tests of the status page ask of it."""
import json
import os
import shutil

from qpscoped import skip

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys  # noqa: F401  (the cases use it)
except ImportError:
    skip("no python3-selenium (deploy/packages/test.txt)")

# For each text on the page: what it says, and the contrast of its colour with what lies behind it, by WCAG's formula.
CONTRASTS = """
const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
const over = (top, below) => { const a = top[3] / 255; return [0, 1, 2].map((n) => top[n] * a + below[n] * (1 - a)).concat(255); };
const light = (c) => { const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = (node) => { const stack = []; for (let at = node; at; at = at.parentElement) stack.push(rgba(getComputedStyle(at).backgroundColor)); return stack.reverse().reduce((all, one) => over(one, all), [255, 255, 255, 255]); };
const out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode.parentElement;
  if (!walk.currentNode.data.trim() || !node.checkVisibility() || ['SCRIPT', 'STYLE', 'OPTION', 'NOSCRIPT'].includes(node.tagName) || node.disabled) continue;
  const below = behind(node), front = over(rgba(getComputedStyle(node).color), below);
  const [a, b] = [light(front), light(below)].sort((x, y) => y - x);
  out.push([walk.currentNode.data.trim().slice(0, 40), (a + 0.05) / (b + 0.05)]);
}
return out;
"""


class Browser:
    """A context manager: one window, 1920 wide unless told."""

    def __enter__(self):
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if not (chromium and driver):
            skip("no chromium, chromium-driver (deploy/packages/test.txt)")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("--headless=new", "--window-size=1920,1200", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--lang=en"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def open(self, port):
        self.driver.get(f"http://127.0.0.1:{port}/")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        """What a reader sees of the first such element; "" when it is not shown."""
        return self.run("const node = document.querySelector(arguments[0]); return node && node.checkVisibility() ? node.innerText : ''", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((node) => node.innerText)", selector)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def look(self, width, height, dark=False, calm=False):
        """The size of the window, and what its user prefers."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def contrasts(self):
        return self.run(CONTRASTS)

    def accessible(self):
        """[(role, name, focusable)] of what assistive technology is told."""
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        out = []
        for node in nodes:
            if not node.get("ignored"):
                focusable = any(p["name"] == "focusable" and p["value"].get("value") for p in node.get("properties", []))
                out.append((node["role"]["value"], node.get("name", {}).get("value", ""), focusable))
        return out

    def requests(self):
        """The addresses that the page has asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        """What the console has said since the last call: script errors and breaches of the policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def screenshot(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(path))
