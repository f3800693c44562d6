/*
 * Where callbacks arrive, in a process of its own: hosts that accept at once and count, or that take connections and never
 * answer. `GET /` tells what has come, `GET /anew` too, and counts anew from then on.
 */
import type { ReceiverPlan } from "./receiver-plan.ts";

// Handed over by the parent, which is of the same version.
const plan = JSON.parse(process.argv[2] ?? "null") as ReceiverPlan;
let count = 0;
let firstAtMs = 0;
let lastAtMs = 0;

for (const port of plan.hanging) Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
for (const port of plan.accepting)
  Bun.serve({ hostname: "127.0.0.1", port, development: false, fetch: receive });

async function receive(request: Request): Promise<Response> {
  if (request.method === "GET") {
    const answer = Response.json({ count, elapsedMs: lastAtMs - firstAtMs });
    if (new URL(request.url).pathname === "/anew") count = 0;
    return answer;
  }
  await request.arrayBuffer();
  lastAtMs = performance.now();
  if (count === 0) firstAtMs = lastAtMs;
  count += 1;
  return new Response(null, { status: 204 });
}
