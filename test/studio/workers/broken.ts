// A worker entry for tests: it dies of the prompt "die", never answers "hang" and "loop", and otherwise answers with its thread's count of orders.
declare const self: Worker;

let orders = 0;

self.onmessage = (event: MessageEvent<{ job: { prompt: string } }>) => {
  orders++;
  if (event.data.job.prompt === "die") setTimeout(() => process.exit(3), 0);
  else if (event.data.job.prompt === "throw") throw new Error("thrown in the worker");
  else if (event.data.job.prompt === "loop") for (;;);
  else if (event.data.job.prompt !== "hang")
    self.postMessage({
      kind: "done",
      rendered: { bytes: new Uint8Array([orders]), contentType: "image/png", width: 1, height: 1 },
    });
};
