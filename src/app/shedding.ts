import type { Config } from "../config/config.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { ShedKind } from "../domain/shedding.ts";
import { readHeldBytes } from "../runtime/vitals.ts";
import { createQueueShedding } from "../service/queue-shedding.ts";
import { createShedding } from "../service/shedding.ts";
import { mostHeldBytes } from "./memory.ts";
import type { Rooms } from "./rooms.ts";

const MIB = 1024 * 1024;

/** Refuses requests under overload. Call `observe` with the lateness of the event loop that its own work caused. */
export function openShedding({ shed }: Config, rooms: Rooms, tally: Pick<Tally, "shed">) {
  const { store, providers, loads } = rooms;
  // They may change.
  const most = {
    get lagMs() {
      return shed.lagMs;
    },
    get heldBytes() {
      return shed.memoryMb === undefined ? mostHeldBytes() : shed.memoryMb * MIB;
    },
  };
  const { active, observe, refusal } = createShedding({ ...rooms, tally, heldBytes: readHeldBytes, most });
  const queues = createQueueShedding({
    ...{ ...rooms, tally, loads, tasks: store.tasks, mostWaitMs: () => shed.queueMs },
    capacityOf: (lane) => providers.get(lane)?.concurrency,
  });
  const kinds = (): ShedKind[] => [...active(), ...(queues.lanes().length > 0 ? (["queues"] as const) : [])];
  return { shedding: { refusal, kinds }, queues, observe };
}
