import { basename } from "node:path";
import { Option } from "commander";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import type { Output, OutputFlags } from "../format/output.ts";
import { printable } from "../format/printable.ts";
import { hasColour } from "../format/style.ts";
import { askTerminal } from "../picture/ask.ts";
import { depthOf, guessProtocol, hasKittyPictures, PROTOCOLS, type Protocol } from "../picture/detect.ts";
import type { Canvas, Exhibit } from "../picture/draw.ts";
import { roomFor, USUAL_CELL } from "../picture/fit.ts";
import { chosenProfile, isProfileFlagged } from "../profiles/chosen.ts";

const CHOICES = ["auto", "none", ...PROTOCOLS] as const;
type Choice = (typeof CHOICES)[number];
type Wanted = Exclude<Choice, "none">;

export interface PreviewFlags {
  readonly preview?: Choice;
  readonly verbose?: boolean;
  readonly profile?: string;
}

/** Shows results to a person. */
export interface Preview {
  /** Draws saved files on the terminal, in order. Leaves out files that it cannot draw, because a preview decides nothing. */
  show(paths: readonly string[]): Promise<void>;
}

export function previewOption(
  description = "how saved results are shown on the terminal (SVC_PREVIEW; default auto)",
): Option {
  return new Option("--preview <how>", description).choices(CHOICES);
}

/**
 * Prepares to show results. Where only the terminal knows what it can do, it is asked at once: its answer comes while the command
 * waits for something else.
 *
 * @throws Failure (exit 2) when SVC_PREVIEW is none of the choices
 */
export function preparePreview(context: Context, output: Output, flags: PreviewFlags & OutputFlags): Preview {
  const choice = choiceOf(context, flags);
  if (choice === "none" || !isWanted(choice, context, output, flags)) return { show: async () => {} };
  // A missing answer counts like a simple one: a terminal that cannot be asked gets what every terminal can show.
  const look = lookOf(choice, context).catch(() => ({ ...usualLook(context), protocol: "half" as const }));
  return {
    async show(paths) {
      const canvas: Canvas = { ...(await look), screen: context.stderr };
      const text = await draw(paths, canvas, flags.verbose === true);
      if (!output.isTalkative) return;
      output.clear();
      // A drawing is made of commands to the terminal.
      context.stderr.write(text);
    },
  };
}

/** A flag goes before the variable, and the variable before the profile, unless a flag names that. */
function choiceOf(context: Context, flags: PreviewFlags): Choice {
  if (flags.preview !== undefined) return flags.preview;
  const variable = context.env.SVC_PREVIEW || undefined;
  const text = isProfileFlagged(flags)
    ? (profileChoice(context, flags) ?? variable)
    : (variable ?? profileChoice(context, flags));
  const choice = CHOICES.find((each) => each === (text ?? "auto"));
  if (choice !== undefined) return choice;
  const given = JSON.stringify(text?.slice(0, 80));
  throw usage(`SVC_PREVIEW must be one of ${CHOICES.join(", ")}, got ${given}.`);
}

/** If the file of profiles cannot be used, the code that needs a server reports it, not the preview. */
function profileChoice(context: Context, flags: PreviewFlags): Choice | undefined {
  try {
    const chosen = chosenProfile(flags, context)?.preview;
    return CHOICES.find((each) => each === chosen);
  } catch {
    return undefined;
  }
}

/**
 * Pictures are for people. They never go into a file or a pipe or next to JSON. Unless requested, they are shown only where colours
 * are.
 */
function isWanted(choice: Wanted, context: Context, output: Output, flags: OutputFlags): boolean {
  const { stderr } = context;
  if (!stderr.isTerminal || !output.isTalkative) return false;
  return choice !== "auto" || (output.mode === "pretty" && hasColour(context, stderr, flags));
}

/** How the terminal shows pictures, and how large its cells are. */
async function lookOf(choice: Wanted, context: Context): Promise<Omit<Canvas, "screen">> {
  const { env, keyboard, stdout, stderr } = context;
  const usual = usualLook(context);
  if (choice !== "auto") return { ...usual, protocol: choice };
  if (usual.isInTmux) return { ...usual, protocol: await protocolBehindTmux(env) };
  const guess = guessProtocol(env);
  if ("protocol" in guess) return { ...usual, protocol: guess.protocol };
  if (keyboard === undefined || !stdout.isTerminal) return { ...usual, protocol: "half" };
  const answer = await askTerminal({ keyboard, write: stderr.write, after });
  const protocol = answer?.hasSixels === true ? guess.withSixels : "half";
  return { ...usual, protocol, cell: answer?.cell ?? USUAL_CELL };
}

function usualLook({ env }: Context) {
  return { depth: depthOf(env), cell: USUAL_CELL, isInTmux: (env.TMUX ?? "") !== "" };
}

/** Kitty's pictures are the only ones that tmux can move with its text. */
async function protocolBehindTmux(env: Context["env"]): Promise<Protocol> {
  const { terminalBehindTmux } = await import("../picture/tmux.ts");
  return hasKittyPictures(await terminalBehindTmux(env)) ? "kitty" : "half";
}

function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}

/** Draws what can be drawn, and then says what else there is. Everything that draws is loaded late: few commands do. */
async function draw(paths: readonly string[], canvas: Canvas, isVerbose: boolean): Promise<string> {
  const exhibits: Exhibit[] = [];
  const notes: string[] = [];
  const excuse = (name: string, error: unknown) => {
    if (isVerbose) notes.push(`No preview of ${name}: ${printable(reasonOf(error))}`);
  };
  const isSheet = paths.length > 1;
  const room = roomFor(paths.length, canvas.screen);
  for (const [index, path] of paths.entries()) {
    const name = (isSheet ? `${index + 1} ` : "") + printable(basename(path));
    try {
      const { readResult } = await import("../picture/result.ts");
      const { pixels, about } = await readResult(path, room);
      const label = about === undefined ? name : `${name}  ${about}`;
      if (pixels !== undefined) exhibits.push({ pixels, label: isSheet ? label : undefined });
      if (about !== undefined && (pixels === undefined || !isSheet)) notes.push(label);
    } catch (error) {
      excuse(name, error);
    }
  }
  let picture = "";
  try {
    const { drawPictures } = await import("../picture/draw.ts");
    picture = await drawPictures(exhibits, canvas);
  } catch (error) {
    excuse("the results", error);
  }
  return [picture, ...notes.map((note) => `${note}\n`)].join("");
}
