import { expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../../src/domain/ids.ts";
import { type Egress, EgressError } from "../../../src/domain/ports/egress.ts";
import { createDeclaredProvider } from "../../../src/providers/declared/adapter.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { fetchAll, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { builtInForm, textOf } from "./harness.ts";

/** Refuses addresses as the guard does. */
function providerOf(isRefused: (url: string) => boolean) {
  const asked: string[] = [];
  const fetchPublic: Egress["fetchMedia"] = async (url) => {
    asked.push(url);
    if (isRefused(url)) throw new EgressError("forbidden", "must be an https URL");
    return (async function* () {
      yield Buffer.from("bytes");
    })();
  };
  const text = textOf("kling.yaml");
  const provider = createDeclaredProvider({
    ...{ id: "kling" as ProviderId, form: loadForm(builtInForm("kling.yaml"), "hash", text) },
    ...{ clock: fakeClock(), fetchPublic },
    account: {
      ...{ name: "default", lane: "kling" as LaneId },
      secrets: { key: createSecret("a-key") },
    },
  });
  return { provider, asked };
}

const refOf = (url: string) => ({ url, kind: "video" });

test("a file that an upstream names with http is fetched over https where http is refused", async () => {
  const { provider, asked } = providerOf((url) => url.startsWith("http:"));
  const bytes = await fetchAll(provider, refOf("http://files.example/a.mp4?sig=1"));
  expect(Buffer.from(bytes).toString()).toBe("bytes");
  expect(asked).toEqual(["http://files.example/a.mp4?sig=1", "https://files.example/a.mp4?sig=1"]);
});

test("a file at an address that the operator lets through is fetched as it is named", async () => {
  const { provider, asked } = providerOf(() => false);
  await fetchAll(provider, refOf("http://10.0.0.5/a.mp4"));
  expect(asked).toEqual(["http://10.0.0.5/a.mp4"]);
});

test.each([
  ["http://10.0.0.5:9000/a.mp4", 1],
  ["https://10.0.0.5/a.mp4", 1],
  ["http://10.0.0.5/a.mp4", 2],
])("what is refused either way is had no more: %s", async (url, times) => {
  const { provider, asked } = providerOf(() => true);
  expect(await rejection(fetchAll(provider, refOf(url)))).toMatchObject({ disposition: "fail" });
  expect(asked).toHaveLength(times);
});
