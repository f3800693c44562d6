import { accessSync, constants, existsSync } from "node:fs";
import { nativeFolders } from "../../assets/native.ts";
import type { ConfigProblem } from "../../config/problem.ts";
import { placeOfProblem } from "../../config/problem.ts";
import { RUNTIME_VARIABLES } from "../../config/runtime-variables.ts";
import { VARIABLE_PREFIX } from "../../config/settings.ts";
import { sentence } from "../../domain/words/say.ts";
import { descriptorLimit } from "../../runtime/descriptors.ts";
import { fileSystemOf } from "../../runtime/mounts.ts";
import { loadTypeface } from "../../studio/typeface.ts";
import { VERSION } from "../../version.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

/** With a lower limit, a server refuses connections that it could serve. */
const FEW_DESCRIPTORS = 4_096;
/** Before this program was made, in epoch milliseconds. */
const BUILT_AFTER = Date.UTC(2026, 0, 1);

export function versionCheck(): Finding[] {
  return [ok("version", `svc ${VERSION} · bun ${Bun.version} · ${process.platform}-${process.arch}.`)];
}

/** The problems with settings, each where it belongs. */
export function settingsChecks(problems: readonly ConfigProblem[], file: string | undefined): Finding[] {
  const findings = problems.map((problem): Finding => {
    const { where, message, suggestion } = problem;
    const place = placeOfProblem(problem);
    if (RUNTIME_VARIABLES.includes(where))
      return error("runtime_variables", sentence(`${where} ${message}`), `unset ${where}`);
    const text = sentence(`${where}: ${message}`);
    if (problem.isMissing === true) return error("provider_keys", text, missingFix(problem));
    if (where.startsWith(VARIABLE_PREFIX))
      return error("variables", text, `unset ${where}, or give it such a value`);
    const there = place.line === undefined ? where : `Line ${place.line} of ${place.file}`;
    const fix =
      suggestion === undefined ? `${there}: write what the message says.` : `${there}: write ${suggestion}.`;
    return error("settings", text, fix);
  });
  const isGood = !findings.some(({ id }) => id === "settings");
  if (!isGood) return findings;
  return [
    ok("settings", file === undefined ? "There is no settings file." : `${file} can be used.`),
    ...findings,
  ];
}

function missingFix({ message }: ConfigProblem): string {
  const [, variable] = /names (\w+), which is not set/.exec(message) ?? [];
  return variable === undefined ? "Put the key where the line says." : `export ${variable}=…`;
}

/** What the configuration warns of, each under its own name. */
export function warningChecks(warnings: readonly string[]): Finding[] {
  const findings = warnings.flatMap((text): Finding[] => {
    const [, unknown, near] =
      /^(SVC_\w+) is set, but is no setting.*?(?:Did you mean (\w+)\?)?$/.exec(text) ?? [];
    if (unknown !== undefined)
      return [
        warn(
          "variables",
          text,
          near === undefined ? `unset ${unknown}` : `unset ${unknown} (and set ${near})`,
        ),
      ];
    const [, chmod] = /: (chmod 600 .+)$/.exec(text) ?? [];
    if (chmod !== undefined) return [warn("secret_files", text, chmod)];
    // The check of public_url reports it.
    if (text.startsWith("Listening on every address")) return [];
    return [warn("providers", text, "Change the setting or the variable that the line names.")];
  });
  const isGood = !findings.some(({ id }) => id === "variables");
  return isGood ? [ok("variables", "Every variable that begins with SVC_ is known."), ...findings] : findings;
}

export function descriptorCheck(limit = descriptorLimit()): Finding[] {
  if (limit === undefined) return [ok("descriptors", "This system does not say how many files may be open.")];
  if (limit >= FEW_DESCRIPTORS) return [ok("descriptors", `${limit} files and connections may be open.`)];
  const text = `Only ${limit} files and connections may be open; with more callers, connections are refused.`;
  return [warn("descriptors", text, "ulimit -n 65536 (in a unit file: LimitNOFILE=65536)")];
}

/** Where the libraries that decode pictures are unpacked. */
export function nativeCheck(): Finding[] {
  const looked = nativeFolders().map((each) => {
    const isNoExec = each.existing !== undefined && fileSystemOf(each.existing).isNoExec;
    return { ...each, fault: isNoExec ? "it is mounted noexec" : each.fault };
  });
  const usable = looked.find(({ fault }) => fault === undefined);
  const faulty = looked.filter(({ fault }) => fault !== undefined);
  const told = faulty.map(({ folder, fault }) => `${folder}: ${fault}`).join("; ");
  const chosen = faulty.find(({ isChosen }) => isChosen);
  const dir =
    "Set SVC_NATIVE_DIR to a folder that only this user can write to, on a file system mounted exec.";
  if (chosen !== undefined) {
    const fix = /writable by/.test(chosen.fault ?? "") ? `chmod go-w ${quoted(chosen.folder)}` : dir;
    return [error("native", `SVC_NATIVE_DIR cannot be used (${told}); pictures could not be checked.`, fix)];
  }
  if (usable === undefined)
    return [error("native", `The libraries that decode pictures can be unpacked nowhere: ${told}.`, dir)];
  if (faulty.length > 0)
    return [warn("native", `Libraries are unpacked to ${usable.folder}, because not to ${told}.`, dir)];
  return [ok("native", `Native libraries are unpacked to ${usable.folder}.`)];
}

/** The fonts that captions are drawn with lie in the executable. */
export async function fontCheck(): Promise<Finding[]> {
  const typeface = await loadTypeface();
  if (typeface.measure("svc") > 0)
    return [ok("fonts", "The built-in fonts can be read; no system font is needed.")];
  return [error("fonts", "The built-in fonts hold no letters.", "Download the executable again.")];
}

/** @param now epoch milliseconds @param lastBeat when the service last worked, by its clock then */
export function clockCheck(now: number, lastBeat?: number): Finding[] {
  const at = new Date(now).toISOString();
  const fix = "timedatectl set-ntp true";
  if (now < BUILT_AFTER)
    return [
      error("clock", `The clock says ${at}: certificates count as not valid yet, keys never expire.`, fix),
    ];
  if (lastBeat !== undefined && lastBeat > now + 60_000) {
    const text = `The clock says ${at}, and the service has worked at ${new Date(lastBeat).toISOString()}: it was set back.`;
    return [warn("clock", text, fix)];
  }
  return [ok("clock", `The clock says ${at}.`)];
}

/** @param isThere by another machine's clock, in epoch milliseconds */
export function skewCheck(now: number, there: { readonly dateMs: number; readonly host: string }): Finding[] {
  const skewSec = Math.round((now - there.dateMs) / 1000);
  if (Math.abs(skewSec) <= 30) return [ok("clock_skew", `The clock agrees with that of ${there.host}.`)];
  const text = `The clock is ${Math.abs(skewSec)} s ${skewSec > 0 ? "ahead of" : "behind"} that of ${there.host}: signatures of callbacks and of providers may be refused.`;
  return [warn("clock_skew", text, "timedatectl set-ntp true")];
}

/** Why this user cannot write to a folder, as far as the system shows; undefined where nothing speaks against it. */
export function writeFault(path: string): "read_only" | "refused" | undefined {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return existsSync(path) ? undefined : "refused";
  } catch (problem) {
    const code = problem instanceof Error && "code" in problem ? problem.code : undefined;
    return code === "EROFS" ? "read_only" : "refused";
  }
}

export const mayWrite = (path: string): boolean => writeFault(path) === undefined;

/** What makes a folder writable whose file system is mounted to be read only. No right of the folder does. */
export function remountFix(folder: string, orElse: string): string {
  return `Mount the file system of ${folder} for writing (in a container without :ro, by systemd with ReadWritePaths=${folder}), or ${orElse}.`;
}
