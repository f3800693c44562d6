import { type Asked, firstDifference } from "./canonical.ts";
import type { Exchange, Library, Recording } from "./library.ts";

interface Place {
  readonly recording: Recording;
  readonly left: readonly Exchange[];
}

/** Says why nothing recorded answers a request, and what is nearest to it. */
export function unmatched(
  { folder, recordings }: Pick<Library, "folder" | "recordings">,
  model: string,
  places: readonly Place[],
  asked: Asked,
): string {
  const { method, url, account } = asked.shape;
  const what = `${folder} has no answer to ${String(method)} ${String(url)}`;
  if (places.length === 0) return `${what}: ${noModel(recordings, model)}.`;
  const [nearest] = places
    .flatMap(({ recording, left }) => left.map((exchange) => ({ recording, exchange })))
    .filter(
      ({ exchange }) => exchange.asked?.shape.account === account && exchange.asked?.shape.method === method,
    )
    .sort((one, other) => Number(isAt(other.exchange, asked)) - Number(isAt(one.exchange, asked)));
  const difference = nearest && firstDifference(nearest.exchange.asked?.shape, asked.shape);
  const cut = places.find(({ recording }) => recording.cutAfter !== undefined)?.recording;
  if (nearest !== undefined && difference !== undefined && isAt(nearest.exchange, asked))
    return `${what}: nearest is ${nearest.recording.file}:${nearest.exchange.line}, but ${difference}.`;
  if (cut !== undefined) return `${what}: ${cut.file} is cut after line ${cut.cutAfter}.`;
  if (nearest === undefined || difference === undefined)
    return `${what}: ${places[0]?.recording.file} has no more of it.`;
  return `${what}: nearest is ${nearest.recording.file}:${nearest.exchange.line}, but ${difference}.`;
}

function isAt({ asked }: Exchange, { shape }: Asked): boolean {
  return pathOf(asked?.shape.url) === pathOf(shape.url);
}

function pathOf(url: unknown): string {
  return String(url).split("?")[0] ?? "";
}

function noModel(recordings: readonly Recording[], model: string): string {
  const models = [...new Set(recordings.map((each) => each.model))].sort();
  return models.length === 0
    ? "it holds no recording"
    : `no task of ${model} was recorded, but of ${models.join(", ")}`;
}
