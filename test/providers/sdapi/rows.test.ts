import { afterEach, expect, test } from "bun:test";
import type { ModelId, ProviderId } from "../../../src/domain/ids.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { Model } from "../../../src/domain/model/model.ts";
import type { Wording } from "../../../src/domain/model/wording.ts";
import { laneCapacities } from "../../../src/scheduler/routing/lanes.ts";
import { createEngine, fakeClock, MODEL } from "../../helpers/engine.ts";
import { newTask, taskId } from "../../helpers/store.ts";
import { startWebUi, type WebUi } from "./engine.ts";
import { createProvider } from "./harness.ts";

const started: WebUi[] = [];
afterEach(async () => {
  for (const ui of started.splice(0)) await ui.stop();
});

const SDAPI = "sdapi" as ProviderId;
const CHECKPOINTS = ["anime.safetensors [a1]", "photo.safetensors [b2]", "xl/base.safetensors [c3]"];

const modelOf = (upstreamModel: string, i: number): Model => ({
  ...MODEL,
  id: `house-${i}` as ModelId,
  deadlineMs: 3_600_000,
  routes: [{ provider: SDAPI, upstreamModel }],
});

/** A scheduler with one web UI that has these checkpoints, and a model for each. */
async function open() {
  const ui = await startWebUi();
  started.push(ui);
  ui.checkpoints = CHECKPOINTS;
  const provider = createProvider({ baseUrl: ui.origin, clock: fakeClock() });
  const models = CHECKPOINTS.map(modelOf);
  const lanes = () => laneCapacities([provider]);
  const engine = await createEngine([provider], { models, options: { lanes } });
  const admit = (number: number) => {
    const model = models[number % models.length]!;
    // Without a size, which the pictures of these tests would not have.
    const request = { ...newTask().request, model: model.id, parameters: {} };
    const chosen = engine.deps.routing.choose(model, request);
    const { lane, index: routeIndex, setup } = chosen!;
    return engine.admit({ id: taskId(number), model: model.id, request, lane, routeIndex, setup });
  };
  return { ui, engine, admit };
}

/** The checkpoint of each request as it came; each other one in it had to be loaded. */
function checkpointsOf({ bodies }: WebUi) {
  return bodies.map(
    ({ override_settings: settings }) => (settings as JsonObject).sd_model_checkpoint as string,
  );
}

test("a server loads each checkpoint once for thirty tasks of three checkpoints that came mixed", async () => {
  const { ui, engine, admit } = await open();
  const ids = await Promise.all(Array.from({ length: 30 }, (_, number) => admit(number)));
  await engine.scheduler.start();
  for (let made = 0; made < 30; made++) {
    await ui.until(() => ui.queue.length > 0);
    ui.end();
  }
  await engine.scheduler.drain(60_000);
  expect(checkpointsOf(ui)).toEqual(CHECKPOINTS.flatMap((each) => Array.from({ length: 10 }, () => each)));
  for (const id of ids) expect((await engine.task(id)).status).toBe("completed");
});

const named = (override_settings: JsonObject): Wording => ({ constants: { override_settings } });

test.each<[string, string, Wording | undefined, string | undefined]>([
  ["its checkpoint", "photo", undefined, "photo"],
  ["nothing where it takes whatever is loaded", "current", undefined, undefined],
  ["the checkpoint among its settings", "current", named({ sd_model_checkpoint: "anime" }), "anime"],
  [
    "the modules of Forge with it",
    "flux",
    named({ forge_additional_modules: ["t5", "ae"] }),
    "flux + t5 + ae",
  ],
  ["no setting that loads nothing", "photo", named({ CLIP_stop_at_last_layers: 2 }), "photo"],
])("what a route has a server load is %s", (_, upstreamModel, wording, setup) => {
  const provider = createProvider({ baseUrl: "http://127.0.0.1:1", clock: fakeClock() });
  expect(provider.setupOf?.({ upstreamModel, wording })).toBe(setup);
});
