import { Status, type Tone } from "./status.tsx";
import { Time } from "./time.tsx";

/** What the service says of a way at an account, or of all ways there. */
interface Standing {
  readonly state: string;
  /** What the provider or the operator said. */
  readonly detail?: string;
  /** Unix seconds. */
  readonly since?: number;
  readonly until?: number;
}

const STATES: Readonly<
  Record<string, { readonly word: string; readonly tone: Tone; readonly why?: string }>
> = {
  closed: { word: "takes tasks", tone: "good" },
  open: { word: "open", tone: "bad", why: "It failed several times in a row." },
  half_open: { word: "half open", tone: "busy", why: "One task tries whether it works again." },
  refused: { word: "refused", tone: "bad", why: "The provider refuses the key, the account or the model." },
  spent: { word: "spent", tone: "bad", why: "The account has no money left there." },
  blocked: { word: "blocked", tone: "warn", why: "An operator wants it so." },
  paused: { word: "paused", tone: "warn", why: "The provider asked for a pause." },
};

/** Whether a way gets tasks: why not, since when and until when. */
export function WayState({ standing }: { readonly standing: Standing }) {
  const { state, detail, since, until } = standing;
  const { word, tone, why } = STATES[state] ?? { word: state, tone: "warn" };
  return (
    <span class="flex min-w-0 flex-col">
      <Status word={word} tone={tone} />
      {why !== undefined && (
        <span class="max-w-prose min-w-40 text-sm wrap-anywhere text-soft">
          {why}
          {detail !== undefined && (
            <>
              {" "}
              <bdi>{detail}</bdi>
            </>
          )}
        </span>
      )}
      {since !== undefined && (
        <span class="text-sm text-soft">
          since <Time at={since} />
          {until !== undefined && (
            <>
              , tried again <Time at={until} />
            </>
          )}
        </span>
      )}
    </span>
  );
}
