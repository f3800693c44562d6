import type { Tested } from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { testedBy, testedByError } from "../kit/tested.ts";
import type { CompiledForm, TestCall } from "./compiled-form.ts";
import type { Connection } from "./connection.ts";
import { ExpressionError } from "./fences.ts";
import { answerScope, microsOf, numberIn, tryEvaluate } from "./reading.ts";

interface Testing {
  readonly compiled: CompiledForm;
  readonly connection: Connection;
}

/** Makes the test call of a form. */
export async function testDeclared(testing: Testing, signal: AbortSignal): Promise<Tested> {
  const { compiled, connection } = testing;
  const { test } = compiled;
  if (test === undefined) return { kind: "untested", detail: "its form has no test" };
  try {
    const answer = await connection.ask(test.call, {}, {}, signal);
    const scope = { ...connection.scope, ...answerScope(answer) };
    if (isProved(test, connection, answer)) {
      const balance = numberIn(test.balance, scope);
      return { kind: "ok", balance, balanceMicros: balanceIn(testing, balance) };
    }
    return testedBy(compiled.refusals.read(connection.upstream, answer));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ExpressionError) return { kind: "failed", detail: `its test ${error.message}` };
    return testedByError(error);
  }
}

function isProved({ ok }: TestCall, connection: Connection, answer: UpstreamAnswer): boolean {
  if (ok === undefined) return connection.isOk(answer);
  return tryEvaluate(ok, { ...connection.scope, ...answerScope(answer) }) === true;
}

/** In USD, where the form says what a unit is worth. */
function balanceIn({ compiled }: Testing, balance: number | undefined) {
  const unitUsd = compiled.form.test?.unit_usd;
  return unitUsd === undefined ? undefined : microsOf(balance, unitUsd * 1_000_000);
}
