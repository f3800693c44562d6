import { expect, test } from "bun:test";
import { hookFor } from "../../../src/providers/kit/hooks.ts";
import { createScrub } from "../../../src/providers/kit/scrub.ts";

const PUBLIC = "https://queue.fal.run";
const HOOK = "https://svc.example.com/hooks/t";

test("an upstream on the internet is told of https at a public host alone", () => {
  expect(hookFor(PUBLIC, HOOK)).toBe(HOOK);
  expect(hookFor(PUBLIC, "https://203.1.113.7/hooks/t")).toBe("https://203.1.113.7/hooks/t");
  for (const hook of [
    undefined,
    "http://svc.example.com/hooks/t",
    "https://localhost/hooks/t",
    "https://svc.internal/hooks/t",
    "https://media/hooks/t",
    "https://10.0.0.5:8443/hooks/t",
    "https://[::1]/hooks/t",
    "https://[::ffff:192.168.1.4]/hooks/t",
  ])
    expect(hookFor(PUBLIC, hook)).toBeUndefined();
});

test("an upstream of the house is told of whatever address there is", () => {
  for (const base of ["http://10.0.0.5:8787", "http://gateway.example.com", "https://127.0.0.1/v1"])
    expect(hookFor(base, "http://10.0.0.4:8787/hooks/t")).toBe("http://10.0.0.4:8787/hooks/t");
});

test("an address where an upstream may call is no text for a log, however it repeats it", () => {
  const token = "01m8abcdefghjkmnpqrstvwxyz-Zm9yZ2VkLWJ1dC1sb25nLWVub3VnaC10by1iZS1vbmU_-";
  const scrub = createScrub([]);
  for (const url of [
    `https://svc.example.com/hooks/${token}`,
    encodeURIComponent(`https://a.b/hooks/${token}`),
  ])
    expect(scrub(`webhook ${url} is not reachable`)).not.toContain(token.slice(30));
});
