import { createHash } from "node:crypto";
import type { OwnFile } from "../../toolkit/own-files.ts";
import type { Form } from "./form.ts";
import { BUILT_IN_FORMS } from "./forms.ts";
import { type LoadedForm, loadForm } from "./loaded.ts";
import { type Finding, FormFileError } from "./read-form.ts";

/** A form that an operator keeps. */
export interface OwnForm extends LoadedForm {
  readonly file: string;
}

/** What is wrong with an operator's file. */
export interface OwnFinding extends Finding {
  readonly file: string;
  /** Whether an earlier text of the file is still in force. */
  readonly keepsEarlier: boolean;
}

/** The forms in force, and what is wrong with files. */
export interface TakenForms {
  readonly forms: readonly OwnForm[];
  readonly findings: readonly OwnFinding[];
}

export interface OwnFormsOptions {
  /** The ids of providers that are code. */
  readonly coded: readonly string[];
  /** Reads and checks a form; `readForm`, or the same in a thread of its own. @throws FormFileError */
  readonly read: (file: string, text: string) => Form | Promise<Form>;
  /** Why requests may not go to an address, as a clause; undefined where they may. */
  readonly refuseAddress?: ((url: string, form: Form) => string | undefined) | undefined;
}

/** The forms that an operator keeps in a folder. A broken file leaves its last good text in force. */
export class OwnForms {
  #good = new Map<string, OwnForm>();
  readonly #options: OwnFormsOptions;

  constructor(options: OwnFormsOptions) {
    this.#options = options;
  }

  /** Takes the files as they are now. To be called again only when it is done. */
  async take(files: readonly OwnFile[]): Promise<TakenForms> {
    const good = new Map<string, OwnForm>();
    const findings: OwnFinding[] = [];
    for (const file of files) {
      const before = this.#good.get(file.name);
      try {
        good.set(file.name, await this.#read(file, [...good.values()], before));
      } catch (error) {
        if (!(error instanceof FormFileError)) throw error;
        const keepsEarlier = before !== undefined && !isTaken(before, [...good.values()]);
        if (keepsEarlier) good.set(file.name, before);
        findings.push(...error.findings.map((each) => ({ ...each, file: file.name, keepsEarlier })));
      }
    }
    this.#good = good;
    return { forms: [...good.values()], findings };
  }

  async #read(file: OwnFile, others: readonly OwnForm[], before: OwnForm | undefined): Promise<OwnForm> {
    const { name } = file;
    if ("problem" in file)
      throw new FormFileError(name, [{ line: 1, column: 1, message: `the file ${file.problem}` }]);
    const hash = createHash("sha256").update(file.text).digest("hex");
    const form = before?.hash === hash ? before.form : await this.#options.read(name, file.text);
    const problem = this.#problemOf(form, others);
    if (problem !== undefined)
      throw new FormFileError(name, [{ ...placeOf(file.text, problem.key), message: problem.message }]);
    if (before?.hash === hash) return before;
    return { ...loadForm(form, hash, file.text), file: name };
  }

  #problemOf(
    form: OwnForm["form"],
    others: readonly OwnForm[],
  ): { key: string; message: string } | undefined {
    const { provider, replaces = false } = form;
    const twin = others.find((other) => other.form.provider === provider);
    if (twin !== undefined)
      return { key: "provider", message: `provider: "${provider}" is described by ${twin.file} already` };
    const isBuiltIn = Object.hasOwn(BUILT_IN_FORMS, provider) || this.#options.coded.includes(provider);
    if (isBuiltIn && !replaces)
      return {
        key: "provider",
        message: `provider: "${provider}" is built in; choose another name, or say \`replaces: true\``,
      };
    const addresses = [form.base, ...Object.values(form.regions ?? {}), ...(form.origins ?? [])];
    for (const address of addresses) {
      const refusal = address.includes("*") ? undefined : this.#options.refuseAddress?.(address, form);
      if (refusal !== undefined) return { key: "base", message: `base: ${address} ${refusal}` };
    }
    return undefined;
  }
}

function isTaken({ form }: OwnForm, others: readonly OwnForm[]): boolean {
  return others.some((other) => other.form.provider === form.provider);
}

/** Where a member of the whole stands. */
function placeOf(text: string, key: string): { line: number; column: number } {
  const index = text.split("\n").findIndex((line) => line.startsWith(`${key}:`));
  return { line: Math.max(0, index) + 1, column: 1 };
}
