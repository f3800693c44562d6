import { join } from "node:path";
import { onCore, stopProcess, track } from "../run/process.ts";
import type { LoadAnswer, LoadPlan, LoadResult } from "./plan.ts";

const CLIENT = join(import.meta.dir, "client.ts");
const ANSWER_WITHIN_MS = 120_000;

export interface LoadGenerator {
  readonly pid: number;
  /** Carries out one plan. @throws Error when a connection breaks, an answer has another status, or it takes too long */
  run(plan: LoadPlan): Promise<LoadResult>;
  stop(): Promise<void>;
}

/** Starts the one process that makes the load for both sides of a comparison. */
export function startLoadGenerator(): LoadGenerator {
  let onAnswer: ((answer: LoadAnswer) => void) | undefined;
  const child = track(
    Bun.spawn(onCore("client", [process.execPath, CLIENT]), {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      serialization: "json",
      ipc: (answer: LoadAnswer) => onAnswer?.(answer),
    }),
  );
  const ask = (plan: LoadPlan) =>
    new Promise<LoadAnswer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("The load took too long.")), ANSWER_WITHIN_MS);
      onAnswer = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      child.send(plan);
    });
  return {
    pid: child.pid,
    async run(plan) {
      const answer = await ask(plan);
      if (answer.kind === "failure") throw new Error(answer.message);
      const { result } = answer;
      if (result.refused > 0) {
        throw new Error(
          `${result.refused} of ${result.responses} answers were not ${plan.answer?.status ?? 200}: ${result.firstRefusal}`,
        );
      }
      return result;
    },
    stop: () => stopProcess(child),
  };
}

export function perSecond(result: LoadResult): number {
  return (result.responses / result.elapsedMs) * 1000;
}
