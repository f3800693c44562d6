import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiProblem } from "../api/problem.ts";
import { changedTerms, type ReadTerms, type Term, type TermTexts } from "../api/terms.ts";
import type { Draft } from "../shell/draft.ts";
import { Button } from "./button.tsx";
import { isOf, TermFields } from "./term-fields.tsx";
import { Trouble } from "./trouble.tsx";

interface Props {
  readonly terms: readonly Term[];
  /** Names of those that are set most; the others are behind a fold until one of them has a value. All are shown without it. */
  readonly first?: readonly string[];
  /** What the terms are now. */
  readonly before: TermTexts;
  readonly draft: Draft<Record<string, string>>;
  /** What the button says. */
  readonly action: string;
  /** Whether it can be sent without a change of the terms. */
  readonly isNew?: boolean;
  /** Names of fields of its own before the terms. */
  readonly own?: readonly string[];
  /** Fields of its own, with what is wrong with each. */
  readonly children?: (problems: Readonly<Record<string, string>>) => ComponentChildren;
  /** Reads what the terms are by now, also in `before` from then on: somebody else may have changed them. @throws ApiProblem */
  readonly onLook?: () => Promise<TermTexts>;
  /** Sends the terms that are others than before. @throws ApiProblem */
  readonly onSend: (body: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** Sets terms. What is wrong is said beside the field at fault; what was typed stays until it is stored. */
export function TermsForm(props: Props) {
  const { terms, first, before, draft, action, isNew = false, children } = props;
  const texts = { ...before, ...draft.fields };
  const read = changedTerms(terms, before, texts);
  const isChanged = Object.keys(read.body).length + Object.keys(read.problems).length > 0;
  const sending = useSending(read, props);
  const { problem, problems, isBusy } = sending;
  const form = useRef<HTMLFormElement>(null);
  const wrong = Object.values(problems).join();
  useEffect(() => {
    if (wrong !== "") form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [wrong]);
  return (
    <form
      ref={form}
      noValidate
      class="flex min-w-0 flex-col gap-4 rounded-xl border border-line bg-card p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void sending.send();
      }}
    >
      {children?.(problems)}
      <FoldedFields terms={terms} first={first} texts={texts} problems={problems} onText={draft.set} />
      {problem !== undefined && <Trouble problem={problem} />}
      {problem === undefined && Object.keys(problems).length > 0 && (
        <p role="alert" class="text-bad">
          Nothing is sent yet; what is wrong is beside each field.
        </p>
      )}
      <div class="flex flex-wrap items-center gap-2">
        <Button look="main" type="submit" isBusy={isBusy} disabled={!isNew && !isChanged}>
          {action}
        </Button>
        {(isChanged || isNew) && (
          <Button
            look="quiet"
            onClick={() => {
              draft.clear();
              sending.forget();
            }}
          >
            {isNew ? "Empty the form" : "Undo my changes"}
          </Button>
        )}
      </div>
    </form>
  );
}

/** Sends what was read of the form, and keeps what was wrong with it. */
function useSending(read: ReadTerms, { terms, before, own = [], onLook, onSend }: Props) {
  const [problem, setProblem] = useState<unknown>();
  const [unread, setUnread] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const known = [...own, ...terms.map(({ name }) => name)];
  const refused = problem instanceof ApiProblem ? problem : undefined;
  const param = known.some((name) => isOf(refused?.param ?? "", name)) ? refused?.param : undefined;
  return {
    problem,
    problems: param === undefined ? unread : { ...unread, [param]: refused?.message ?? "" },
    isBusy,
    forget() {
      setProblem(undefined);
      setUnread({});
    },
    async send() {
      setProblem(undefined);
      setUnread(read.problems);
      if (Object.keys(read.problems).length > 0) return;
      setBusy(true);
      try {
        const changed = overtaken(Object.keys(read.body), before, (await onLook?.()) ?? before);
        setUnread(changed);
        if (Object.keys(changed).length === 0) await onSend(read.body);
      } catch (error) {
        setProblem(error);
      } finally {
        setBusy(false);
      }
    },
  };
}

/** What is said of the terms that others have changed since they were read. */
function overtaken(names: readonly string[], before: TermTexts, now: TermTexts): Record<string, string> {
  const texts = (of: TermTexts, name: string) =>
    [of[name], of[`${name}.reset`]].filter((text) => text !== undefined && text !== "").join(" ");
  return Object.fromEntries(
    names
      .filter((name) => texts(before, name) !== texts(now, name))
      .map((name) => [
        name,
        `Somebody else has changed this meanwhile, to ${texts(now, name) || "nothing"}. Press the button again to have yours.`,
      ]),
  );
}

function FoldedFields({
  terms,
  first,
  ...fields
}: Parameters<typeof TermFields>[0] & { readonly first: readonly string[] | undefined }) {
  const [wasOpen, setOpen] = useState(false);
  const shown = first?.flatMap((name) => terms.find((term) => term.name === name) ?? []) ?? terms;
  const later = terms.filter((term) => !shown.includes(term));
  const isOpen = later.some(
    ({ name }) => (fields.texts[name] ?? "") !== "" || fields.problems[name] !== undefined,
  );
  return (
    <>
      <TermFields terms={shown} {...fields} />
      {later.length > 0 && (
        <details open={wasOpen || isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary class="mb-3 font-medium">More limits</summary>
          <TermFields terms={later} {...fields} />
        </details>
      )}
    </>
  );
}
