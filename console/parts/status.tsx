/** A word with a shape and a colour: no one is needed to tell it from the others. */
const LOOKS = {
  good: ["●", "text-good"],
  bad: ["▲", "text-bad"],
  warn: ["◆", "text-warn"],
  busy: ["◐", "text-busy"],
  idle: ["○", "text-soft"],
} as const;
export type Tone = keyof typeof LOOKS;

const TONES: Readonly<Record<string, Tone>> = {
  ...{ pending: "idle", processing: "busy", completed: "good", failed: "bad", cancelled: "idle" },
  ...{ under_way: "busy", refused: "warn", unanswered: "warn", delivered: "good" },
  ...{ active: "good", expired: "warn", revoked: "idle", suspended: "warn" },
};

interface Props {
  readonly word: string;
  /** Of words that are in no list here. */
  readonly tone?: Tone;
  /** It may need several lines. */
  readonly isSentence?: boolean;
}

export function Status({ word, tone, isSentence = false }: Props) {
  const [shape, colour] = LOOKS[tone ?? TONES[word] ?? "idle"];
  return (
    <span
      class={`inline-flex items-baseline gap-1.5 ${isSentence ? "wrap-anywhere" : "whitespace-nowrap"} ${colour}`}
    >
      <span aria-hidden="true" class="relative -top-[0.1em] text-[0.7em]">
        {shape}
      </span>
      {word.replaceAll("_", " ")}
    </span>
  );
}
