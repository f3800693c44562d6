import pretty from "pino-pretty";

/** Lines for people: time, level, message, then the fields. */
export function prettyStream(destination: NodeJS.WritableStream | { write(text: string): void }) {
  return pretty({
    // pino-pretty writes to anything with `write`; its type names only Node's own streams.
    destination: destination as NodeJS.WritableStream,
    sync: true,
    colorize: process.stderr.isTTY === true,
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
    singleLine: true,
  });
}
