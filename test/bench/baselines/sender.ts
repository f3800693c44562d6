/* What delivering callbacks is measured against: a loop of POSTs, each on a connection of its own, with nothing else around it. */
import type { SenderPlan } from "./receiver-plan.ts";

// Handed over by the parent, which is of the same version.
const plan = JSON.parse(process.argv[2] ?? "null") as SenderPlan;
let left = plan.count;

async function post(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const port = plan.ports[left % plan.ports.length];
    const response = await fetch(`http://127.0.0.1:${port}/hook`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: plan.body,
      keepalive: false,
    });
    await response.arrayBuffer();
  }
}

await Promise.all(Array.from({ length: plan.connections }, post));
