import { expect, test } from "bun:test";
import { createOriginCheck } from "../../../src/providers/kit/origins.ts";

const isOwn = createOriginCheck(["http://127.0.0.1:8188", "https://api.bfl.ai", "https://*.bfl.ai"]);

test.each([
  ["http://127.0.0.1:8188/prompt", true],
  ["http://127.0.0.1:8189/prompt", false],
  ["https://api.bfl.ai/v1", true],
  ["https://api.us2.bfl.ai/v1/get_result?id=1", true],
  ["https://API.EU.BFL.AI/v1", true],
  ["https://bfl.ai/", false],
  ["https://evilbfl.ai/", false],
  ["https://.bfl.ai/", false],
  ["https://api.bfl.ai.evil.example/", false],
  ["https://api.us2.bfl.ai:8443/", false],
  ["http://api.us2.bfl.ai/", false],
  ["https://user:pass@api.us2.bfl.ai/", false],
])("the key may go to %j: %p", (text, expected) => {
  expect(isOwn(URL.parse(text))).toBe(expected);
});

test.each([
  "https://*",
  "https://*.ai",
  "http://*.bfl.ai",
  "https://*.bfl.ai:8443",
  "https://a.*.bfl.ai",
  "https://api.bfl.ai/v1",
  "https://user@api.bfl.ai",
  "api.bfl.ai",
  "file:///etc",
  "",
])("%j is no origin", (text) => {
  expect(() => createOriginCheck([text])).toThrow(`"${text}" is no origin`);
});
