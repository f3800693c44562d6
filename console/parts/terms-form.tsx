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
          Some fields cannot be read; what is wrong is beside each.
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
function useSending(read: ReadTerms, { terms, own = [], onSend }: Props) {
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
        await onSend(read.body);
      } catch (error) {
        setProblem(error);
      } finally {
        setBusy(false);
      }
    },
  };
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
