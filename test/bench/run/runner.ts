import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../benches/bench.ts";
import type { LoadGenerator } from "../load/generator.ts";
import type { Build } from "./build.ts";
import type { Measurement } from "./report.ts";
import {
  createDataFolder,
  createTask,
  type DataFolder,
  readStatus,
  type Service,
  startService,
  TINY,
} from "./service.ts";

/** A build with a data folder that has one completed task, which the benches copy. */
export interface Prepared {
  readonly folder: DataFolder;
  readonly template: string;
}

export interface Runner {
  prepare(build: Build, name: string): Promise<Prepared>;
  /** Runs a bench once, in a folder of its own. */
  run(bench: Bench, prepared: Prepared, rounds: number): Promise<Measurement[]>;
}

export function createRunner(options: {
  /** An empty folder. */
  readonly workspace: string;
  readonly load: LoadGenerator;
  readonly isQuick: boolean;
}): Runner {
  const { workspace, load, isQuick } = options;
  const shared = join(workspace, "shared");
  mkdirSync(shared);
  let runs = 0;
  return {
    async prepare(build, name) {
      const folder = await createDataFolder(build, join(workspace, "templates", name));
      const service = await startService(folder);
      try {
        // What tasks have alike is stored once from the second on, so the first is like no other.
        await completeTask(service);
        return { folder, template: await completeTask(service) };
      } finally {
        await service.stop();
      }
    },
    async run(bench, prepared, rounds) {
      const own = join(workspace, `run-${runs++}`);
      mkdirSync(own);
      try {
        const scaled = (count: number) => (isQuick ? Math.ceil(count / 4) : count);
        return await bench({ ...prepared, workspace: own, shared, load, rounds, scaled });
      } finally {
        rmSync(own, { recursive: true, force: true });
      }
    },
  };
}

async function completeTask(service: Service): Promise<string> {
  const task = await createTask(service, TINY);
  const status = await readStatus(service, task, 30);
  if (status !== "completed") throw new Error(`A first task is ${status} instead of completed.`);
  return task;
}
