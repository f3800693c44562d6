import type { EgressRefusal } from "../domain/ports/egress.ts";
import type { Check, CheckVerdict, ModeratedRequest, OnOutage } from "../domain/ports/moderation.ts";
import { type CommandOptions, commandCheck, findProgram } from "./command.ts";
import { type EndpointDeps, type EndpointOptions, endpointCheck } from "./endpoint.ts";
import { type RuleFile, readRuleFile } from "./rule-file.ts";
import { type Rule, type Rules, readRules } from "./rules/rules.ts";

interface RulesOptions {
  readonly name: string;
  readonly onOutage: OnOutage;
  readonly fields?: readonly string[] | undefined;
  readonly rules: readonly Rule[];
  readonly files: readonly RuleFile[];
}

/** A check as the operator set it up. */
export type CheckOptions = { readonly where: string } & (
  | ({ readonly kind: "rules" } & RulesOptions)
  | ({ readonly kind: "endpoint"; readonly lacksKey?: string | undefined } & EndpointOptions)
  | ({ readonly kind: "command" } & CommandOptions)
);

/** What is wrong with a check, and where that is written. */
export interface CheckProblem {
  readonly where: string;
  readonly message: string;
}

export interface OpenedCheck {
  readonly check?: Check | undefined;
  /** For these it cannot be used. */
  readonly problems: readonly CheckProblem[];
  /** With these it can. */
  readonly warnings: readonly CheckProblem[];
  /** Names of patterns that are run on every text. */
  readonly unaided: readonly string[];
  /** Runs them over a text of 4,000 characters. */
  readonly sample?: (() => unknown) | undefined;
}

export interface CheckDeps extends EndpointDeps {
  /** Why an address cannot be asked. */
  readonly refusal: (url: string) => EgressRefusal | undefined;
}

const NONE: Pick<OpenedCheck, "problems" | "warnings" | "unaided"> = {
  problems: [],
  warnings: [],
  unaided: [],
};

/** A prompt in which few look for anything. */
const SAMPLE = "The quick brown fox jumps over a lazy dog. ".repeat(94).slice(0, 4_000);

/** Prepares a check: reads its rules, and verifies that the service it asks can be asked. */
export async function openCheck(options: CheckOptions, deps: CheckDeps): Promise<OpenedCheck> {
  const { where } = options;
  if (options.kind === "rules") return openRules(options);
  if (options.kind === "command") {
    const isThere = findProgram(options) !== undefined;
    const message = `names the program ${options.run[0]}, which is not there or cannot be run`;
    return { ...NONE, check: commandCheck(options, deps), warnings: isThere ? [] : [{ where, message }] };
  }
  const refusal = deps.refusal(options.url);
  const way = refusal?.isAllowable === true ? "; egress.allow lets addresses through" : "";
  const problems = [
    ...(refusal === undefined ? [] : [{ where, message: `has an endpoint that ${refusal.clause}${way}` }]),
    ...(options.lacksKey === undefined
      ? []
      : [
          {
            where,
            message: `names ${options.lacksKey}, which is not set; set it to the key, or leave key_env out`,
          },
        ]),
  ];
  return { ...NONE, check: endpointCheck(options, deps), problems };
}

async function openRules({ name, onOutage, fields, ...given }: RulesOptions): Promise<OpenedCheck> {
  const files = given.files.map(readRuleFile);
  const all = [...given.rules, ...files.flatMap(({ rules }) => rules)];
  const { rules, problems } = await readRules(all);
  return {
    ...NONE,
    check: rules && {
      ...{ name, onOutage, fields, isQuick: true },
      run: ({ texts }) => judge(rules.broken, texts),
    },
    problems: [...files.flatMap((file) => file.problems), ...problems],
    unaided: rules?.unaided ?? [],
    sample: () => rules?.broken(SAMPLE),
  };
}

/** Reads one text after the other, in later turns only where one needs them. */
function judge(
  broken: Rules["broken"],
  texts: ModeratedRequest["texts"],
): CheckVerdict | Promise<CheckVerdict> {
  for (const [i, { field, text }] of texts.entries()) {
    const rule = broken(text);
    if (rule instanceof Promise)
      return rule.then((found) =>
        found === undefined ? judge(broken, texts.slice(i + 1)) : refused(found, field),
      );
    if (rule !== undefined) return refused(rule, field);
  }
  return { kind: "allowed" };
}

function refused(rule: string, field: string): CheckVerdict {
  return { kind: "refused", rule, field };
}
