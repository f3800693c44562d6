/*
 * The other side of the wire in the tests of the callbacks' network: takes every request to any address of its namespace, and
 * writes a line about it, until its input ends. A host whose name begins with `again` is told to come again.
 */
const receiver = Bun.serve({
  hostname: "::",
  port: 80,
  async fetch(request, server) {
    const host = request.headers.get("host") ?? "";
    await request.arrayBuffer();
    const from = server.requestIP(request)?.address;
    process.stdout.write(`${JSON.stringify({ host, from })}\n`);
    return new Response("thanks", { status: host.startsWith("again") ? 503 : 200 });
  },
});
process.stdout.write(`${JSON.stringify({ port: receiver.port })}\n`);
for await (const _ of Bun.stdin.stream());
process.exit(0);
