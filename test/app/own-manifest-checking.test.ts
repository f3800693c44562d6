import { expect, setDefaultTimeout, test } from "bun:test";
import { createManifestChecking } from "../../src/app/own-manifest-checking.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";

setDefaultTimeout(60_000);

test("a text that takes too long to check is given up, and the next one is checked", async () => {
  const { after } = createSystemClock();
  const delays: number[] = [];
  const check = createManifestChecking({
    clock: { after: (delayMs, run) => after(delays.push(delayMs) === 1 ? 0 : delayMs, run) },
  });
  const results = await Promise.all(
    ["id: one", "id: two"].map((each) => check({ text: each, providers: [] })),
  );
  const [late, next] = results.map(({ findings }) => findings.map(({ message }) => message));
  expect(late).toEqual(["The text takes too long to check."]);
  expect(next?.[0]).toStartWith("the manifest lacks the field");
});
