import { useState } from "preact/hooks";
import { ApiProblem } from "../../api/problem.ts";
import type { Role } from "../../api/session.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Reading, Section } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { say } from "../../shell/toasts.tsx";
import { type ListedCallback, placeOf } from "../callbacks/list.ts";
import { json } from "../playground/snippet-parts.ts";
import { curlOf } from "./by-hand.ts";
import { type CallbackInFull, nextLookMs, readCallback, sendOnceMore } from "./read.ts";
import { Sends } from "./sends.tsx";
import { StateOf } from "./state.tsx";

/** One callback: what it says, each send with its answer, and one more. */
export function Screen({ role, item }: ScreenProps) {
  const reading = useReading(item, (signal) => readCallback(role, item, signal));
  const { data, problem, again } = reading;
  useEvery(data === undefined ? undefined : nextLookMs(data), reading);
  const [refusal, setRefusal] = useState<unknown>();
  const isGone = problem instanceof ApiProblem && problem.status === 404;
  return (
    <Page
      title={data === undefined ? "Callback" : `Callback to ${placeOf(data)}`}
      actions={
        data !== undefined &&
        (role === "tenant" || may("system")) && (
          <Again
            role={role}
            id={item}
            onAsked={(asked) => reading.change((before) => ({ ...before, ...asked }))}
            onRefusal={setRefusal}
          />
        )
      }
    >
      <p>
        <Link href={hrefOf("callbacks")}>← All callbacks</Link>
      </p>
      {refusal !== undefined && <Trouble problem={refusal} />}
      {problem !== undefined && <Trouble problem={problem} {...(isGone ? {} : { again })} />}
      {data === undefined && problem === undefined && <Reading what="the callback" />}
      {data !== undefined && <Parts callback={data} />}
    </Page>
  );
}

function Again({
  role,
  id,
  onAsked,
  onRefusal,
}: {
  readonly role: Role;
  readonly id: string;
  readonly onAsked: (callback: ListedCallback) => void;
  readonly onRefusal: (problem: unknown) => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    onRefusal(undefined);
    try {
      onAsked(await sendOnceMore(role, id));
      say("It is sent once more.");
    } catch (error) {
      onRefusal(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button look="main" isOnce isBusy={isBusy} onClick={() => void send()}>
      Send again
    </Button>
  );
}

function Parts({ callback }: { readonly callback: CallbackInFull }) {
  const { url, payload, history } = callback;
  return (
    <>
      <About callback={callback} />
      <Section title="Sends">
        <Sends history={history} />
      </Section>
      <Section title="What is sent">
        <CodeBlock label="Payload" text={json(payload, 2)} />
      </Section>
      {url !== undefined && (
        <Section title="The same by hand, without a signature">
          <CodeBlock label="curl" text={curlOf(url, payload)} />
        </Section>
      )}
    </>
  );
}

function About({ callback }: { readonly callback: CallbackInFull }) {
  const { id, url, host, task_id, request_id, account, key, attempts, max_attempts, created_at } = callback;
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <Facts
        facts={[
          ["State", <StateOf key="state" callback={callback} />],
          ["Attempts", `${attempts} of ${max_attempts}`],
          [
            "To",
            <bdi key="to" class="font-mono text-xs break-all sm:text-sm">
              {url ?? host}
            </bdi>,
          ],
          [
            "Task",
            <Link key="task" href={hrefOf("tasks", task_id)}>
              <span class="font-mono text-xs break-all sm:text-sm">{task_id}</span>
            </Link>,
          ],
          ["It ended", <Time key="ended" at={created_at} />],
          [
            "Account",
            account && (
              <Link key="account" href={hrefOf("accounts", account.id)}>
                <bdi>{account.name}</bdi>
              </Link>
            ),
          ],
          [
            "Key",
            key && (
              <Link key="key" href={hrefOf("keys", key.id)}>
                <bdi>{key.name}</bdi>
              </Link>
            ),
          ],
          [
            "Id",
            <code key="id" class="font-mono text-xs break-all sm:text-sm">
              {id}
            </code>,
          ],
          [
            "Request",
            <code key="request" class="font-mono text-xs break-all sm:text-sm">
              {request_id}
            </code>,
          ],
        ]}
      />
    </div>
  );
}
