import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { LaneId } from "../domain/ids.ts";
import { providerOf } from "../domain/lane.ts";
import { checkRecordings } from "../providers/declared/checking/recordings.ts";
import { BUILT_IN_FORMS, loadBuiltIn } from "../providers/declared/forms.ts";
import { type LoadedForm, loadForm } from "../providers/declared/loaded.ts";
import { type FormText, readForms } from "../providers/declared/read-form.ts";
import { readLibrary } from "../providers/recordings/library.ts";
import { createSystemClock } from "../runtime/clock.ts";

/** A difference between a recording and a form, or a problem of a recording. */
export interface RecordingFinding {
  /** Of the recording. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning";
  readonly message: string;
}

/**
 * Makes forms repeat the recorded requests of their providers: the forms of the files, or else all built-in ones.
 *
 * @param name the name of the folder, for messages
 * @param files forms that have no errors; others are left out
 * @throws the disk's error for the folder
 */
export async function checkReplay(
  { folder, name }: { readonly folder: string; readonly name: string },
  files: readonly FormText[],
): Promise<{ readonly findings: readonly RecordingFinding[]; readonly calls: number }> {
  const library = await readLibrary(folder);
  const clock = createSystemClock();
  const place = (file: string) => join(name, basename(file));
  const findings: RecordingFinding[] = library.faults.map((fault) => ({
    ...{ ...fault, file: place(fault.file), column: 1, severity: "error" },
  }));
  const lanes = library.recordings.flatMap(({ accounts }) => [...accounts.keys()]);
  const recorded = new Set<string>(lanes.map((lane) => providerOf(lane as LaneId)));
  let calls = 0;
  for (const form of files.length > 0 ? formsIn(files) : builtIn(recorded)) {
    const checked = await checkRecordings(library, form, clock);
    calls += checked.calls;
    for (const { file, line, message } of checked.findings)
      findings.push({ file: place(file), line, column: 1, severity: "error", message });
    if (!recorded.has(form.form.provider)) findings.push(unrecorded(name, form.form.provider));
  }
  return {
    findings: findings.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line)),
    calls,
  };
}

function unrecorded(file: string, provider: string): RecordingFinding {
  const message = `nothing of ${provider} was recorded`;
  return { file, line: 1, column: 1, severity: "warning", message };
}

function formsIn(files: readonly FormText[]): LoadedForm[] {
  return readForms(files).flatMap((read, i) => {
    const text = files[i]?.text ?? "";
    return "form" in read ? [loadForm(read.form, createHash("sha256").update(text).digest("hex"), text)] : [];
  });
}

function builtIn(providers: ReadonlySet<string>): LoadedForm[] {
  return [...providers].filter((id) => Object.hasOwn(BUILT_IN_FORMS, id)).map(loadBuiltIn);
}
