// A worker entry for tests: what the order's source says happens.
declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<{ source: string }>) => {
  if (data.source.startsWith("throw")) throw new Error("thrown in the worker");
  if (data.source.startsWith("exit")) setTimeout(() => process.exit(3), 0);
  if (data.source.startsWith("fine")) self.postMessage({ kind: "picture", bytes: new Uint8Array([1]) });
};
