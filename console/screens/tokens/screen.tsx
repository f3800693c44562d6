import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { type Listed, type Listing, type PageQuery, useListing } from "../../api/pages.ts";
import type { Schemas } from "../../api/published.d.ts";
import { session } from "../../api/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Choice } from "../../parts/field.tsx";
import { Page, Reading, Section } from "../../parts/page.tsx";
import { PagedTable } from "../../parts/paged-table.tsx";
import { Status } from "../../parts/status.tsx";
import type { Column } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { query, setQuery } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { NewToken } from "./new-token.tsx";
import { Sessions } from "./sessions.tsx";

type Token = Schemas["ManagementToken"];

async function readTokens(query: PageQuery, signal?: AbortSignal): Promise<Listed<Token>> {
  const { tokens: items, next } = await ask("GET /admin/v1/tokens", { query }, { signal });
  return { items, next };
}

/** Who manages this service: its management tokens, and browsers at the console. */
export function Screen() {
  const listing = useListing("tokens", readTokens);
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      title="Tokens and sessions"
      actions={
        may("system") && (
          <Button look="main" onClick={() => setMaking(true)}>
            Create token
          </Button>
        )
      }
    >
      <Section title="Management tokens">
        <TokenTable listing={listing} />
      </Section>
      <Section title="Sessions of the console">
        <Sessions />
      </Section>
      {isMaking && <NewToken onClose={() => setMaking(false)} onMade={listing.again} />}
    </Page>
  );
}

function TokenTable({ listing }: { readonly listing: Listing<Token> }) {
  const { data, problem, again, change } = listing;
  const { state = "" } = query.value;
  const [revoked, setRevoked] = useState<Token>();
  const rows = (data?.items ?? []).filter(({ status }) => state === "all" || status !== "revoked");
  if (data === undefined)
    return problem === undefined ? <Reading what="tokens" /> : <Trouble problem={problem} again={again} />;
  return (
    <>
      <div class="max-w-48">
        <Choice
          label="State"
          hidesLabel
          value={state}
          choices={[
            ["", "Not revoked"],
            ["all", "Every state"],
          ]}
          onChoice={(chosen) => setQuery({ state: chosen })}
        />
      </div>
      <PagedTable
        what="tokens"
        label="Management tokens, newest first"
        columns={may("system") ? [...COLUMNS, revokeColumn(setRevoked)] : COLUMNS}
        keyOf={({ id }) => id}
        listing={listing}
        rows={rows}
        none={
          <Empty title="No token is like that">
            A management token lets a person or a program do what its scopes say. The first one is made on the
            machine of the service: <code class="font-mono text-ink">svc tokens create --name ops</code>
          </Empty>
        }
      />
      {revoked !== undefined && (
        <Revoke
          token={revoked}
          onClose={() => setRevoked(undefined)}
          onDone={(after) =>
            change((before) => ({
              ...before,
              items: before.items.map((each) => (each.id === after.id ? after : each)),
            }))
          }
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  {
    title: "Name",
    cell: ({ id, name, display }) => (
      <span class="flex min-w-0 flex-col">
        <bdi class="block min-w-24 wrap-anywhere">
          {name}
          {session.value?.holder.id === id && <span class="text-soft"> (you)</span>}
        </bdi>
        <code class="font-mono text-[0.8125rem] text-soft">{display}</code>
      </span>
    ),
  },
  { title: "State", cell: ({ status }) => <Status word={status} /> },
  { title: "Scopes", from: "sm", cell: ({ scopes }) => scopes.join(", ") },
  { title: "Last used", from: "md", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  { title: "Expires", from: "lg", cell: ({ expires_at }) => <Time at={expires_at} /> },
  { title: "Made", from: "lg", cell: ({ created_at }) => <Time at={created_at} /> },
];

function revokeColumn(onRevoke: (token: Token) => void): Column<Token> {
  return {
    title: "End",
    cell: (token) =>
      token.status === "revoked" ? (
        ""
      ) : (
        <button
          type="button"
          class="min-h-6 text-bad underline-offset-2 hover:underline"
          aria-label={`Revoke ${token.name}`}
          onClick={() => onRevoke(token)}
        >
          Revoke
        </button>
      ),
  };
}

function Revoke({
  token: { id, name, display },
  onClose,
  onDone,
}: {
  readonly token: Token;
  readonly onClose: () => void;
  readonly onDone: (token: Token) => void;
}) {
  const isOwn = session.value?.holder.id === id;
  const revoke = async () => {
    onDone(await ask("POST /admin/v1/tokens/{id}/revoke", { path: { id } }));
    say(`${name} is revoked.`);
    onClose();
  };
  return (
    <Confirm title={`Revoke ${name}?`} action="Revoke it for good" onYes={revoke} onClose={onClose}>
      <p>
        Whoever uses <code class="font-mono">{display}</code> is refused at once, and sessions that it opened
        end. Tokens that it made stay. This cannot be undone.
      </p>
      {isOwn && <p class="font-medium text-warn">You are signed in with it: your own session ends, too.</p>}
    </Confirm>
  );
}
