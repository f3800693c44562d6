import { expect, test } from "bun:test";
import type { Json } from "../../src/domain/json.ts";
import { type Previews, ProviderError } from "../../src/domain/ports/provider.ts";
import { MAX_PREVIEW_BYTES, type Preview } from "../../src/domain/task/preview.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, micros } from "../helpers/store.ts";

const PNG = new Uint8Array(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"));

const asking = (parameters: { readonly [name: string]: Json }) => ({
  request: { kind: "image", model: MODEL.id, mode: "text-to-image", n: 2, parameters, inputs: [] } as const,
});

test("a provider may show previews with its submission and its polls to whoever looks, as far as they are wanted", async () => {
  const wishes: (Previews | undefined)[] = [];
  const show = (previews: Previews | undefined) => {
    wishes.push(previews);
    previews?.show({ index: wishes.length - 1, outputIndex: 1, bytes: PNG });
  };
  const provider = scriptedProvider({
    async submit({ previews }) {
      show(previews);
      return { kind: "operation", operation: "job" };
    },
    async poll(_operation, _signal, previews) {
      show(previews);
      return wishes.length < 4
        ? { kind: "pending" }
        : { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit(asking({ partial_images: 3 }));
  const seen: Preview[] = [];
  engine.deps.previews.subscribe(id, (preview) => seen.push(preview));
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  // The fourth is one more than was asked for.
  expect(seen.map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(seen[0]).toEqual({ index: 0, outputIndex: 1, type: "image/png", bytes: PNG });
  expect(wishes.map((wish) => [wish?.wanted, wish?.isWatched()])).toEqual(Array(4).fill([3, true]));
});

test.each([{}, { partial_images: 0 }, { partial_images: 9 }, { partial_images: "2" }])(
  "none are asked for by %j",
  async (parameters) => {
    const wishes: unknown[] = [];
    const provider = scriptedProvider({
      async submit({ previews }) {
        wishes.push(previews);
        return { kind: "operation", operation: "job" };
      },
      async poll(_operation, _signal, previews) {
        wishes.push(previews);
        return { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] };
      },
    });
    const engine = await createEngine([provider]);
    await engine.admit(asking(parameters));
    await engine.runToEnd();
    expect(wishes).toEqual([undefined, undefined]);
  },
);

test("whatever a provider shows, and whenever, the task goes its way", async () => {
  const tooLarge = new Uint8Array(MAX_PREVIEW_BYTES + 1);
  tooLarge.set(PNG);
  let late: Previews | undefined;
  const provider = scriptedProvider({
    async submit({ previews }) {
      late = previews;
      for (const bytes of [new Uint8Array(), Buffer.from("<svg/>"), tooLarge])
        previews?.show({ index: 0, bytes });
      previews?.show({ index: -7, outputIndex: Number.NaN, bytes: PNG });
      return { kind: "operation", operation: "job" };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit(asking({ partial_images: 3 }));
  const seen: Preview[] = [];
  const stop = engine.deps.previews.subscribe(id, (preview) => seen.push(preview));
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  expect(seen).toEqual([]);
  stop();
  late?.show({ index: 0, bytes: PNG });
  expect(late?.isWatched()).toBe(false);
  expect(seen).toEqual([]);
  expect((await engine.task(id)).status).toBe("completed");
});

test("a cancelled task stays one, whatever its provider still shows", async () => {
  let previews: Previews | undefined;
  const provider = scriptedProvider({
    async poll(_operation, _signal, wish) {
      previews = wish;
      wish?.show({ index: 0, bytes: PNG });
      return provider.cancelled.length > 0 ? { kind: "cancelled" } : { kind: "pending" };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit(asking({ partial_images: 1 }));
  await engine.scheduler.tick();
  await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
  await engine.runToEnd();
  previews?.show({ index: 0, bytes: PNG });
  expect(await engine.task(id)).toMatchObject({ status: "cancelled", charged: micros(0) });
});

test("a submission whose answer was lost after a preview is not sent again, and its caller pays nothing", async () => {
  const provider = scriptedProvider({
    async submit({ previews }) {
      previews?.show({ index: 0, bytes: PNG });
      throw new ProviderError("unknown", "UPSTREAM_ERROR", "The stream broke.");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit(asking({ partial_images: 1 }));
  await engine.runToEnd();
  expect(provider.submissions).toHaveLength(1);
  const task = await engine.task(id);
  expect(task).toMatchObject({ status: "failed", error: { code: "OUTCOME_UNKNOWN" } });
  expect(await engine.store.accounts.account(ACCOUNT)).toMatchObject({ balance: 0, held: 0 });
});
