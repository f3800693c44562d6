import { spanText } from "../../api/terms.ts";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { wordOf } from "../models/list.ts";
import { OwnFile } from "./own-file.tsx";
import { PriceOf } from "./price.tsx";
import { Quote } from "./quote.tsx";
import type { Known, Model } from "./read.ts";
import { Routes } from "./routes.tsx";

interface Props {
  readonly id: string;
  readonly known: Known;
  /** Why it could not be read again. */
  readonly problem: unknown;
  readonly again: () => void;
  readonly onChange: (change: (before: Known) => Known) => void;
}

/** A model: the ways to make it, its price, what a request would cost, and its file where it is the operator's own. */
export function OneModel({ id, known: { made, manifest }, problem, again, onChange }: Props) {
  return (
    <Page title={made?.model.name ?? id}>
      <p>
        <Link href={hrefOf("models")}>← All models</Link>
      </p>
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {made === undefined && (
        <div role="status" class="rounded-xl border border-warn bg-card p-4">
          <p class="font-medium text-warn">The server does not have this model at present</p>
          <p class="mt-1">
            It takes a file up within two seconds of a change. If it stays so, its text cannot be used: what
            is wrong is below.
          </p>
        </div>
      )}
      {made !== undefined && (
        <>
          <About model={made.model} />
          <Section title="Ways to make it">
            <Routes routes={made.model.routes} />
          </Section>
          <Section title="Price">
            <PriceOf
              model={made.model}
              price={made.price}
              onChange={(price) =>
                onChange((before) => ({ ...before, made: before.made && { ...before.made, price } }))
              }
            />
          </Section>
          <Section title="What a request costs">
            <Quote model={made.model} price={made.price} />
          </Section>
        </>
      )}
      {manifest !== undefined && (
        <Section title="Its file">
          <OwnFile
            manifest={manifest}
            again={again}
            onSaved={(saved) => onChange((before) => ({ ...before, manifest: saved }))}
          />
        </Section>
      )}
    </Page>
  );
}

function About({ model }: { readonly model: Model }) {
  const { id, kind, description, modes, inputs, deadline_seconds: deadline, create_path: path, file } = model;
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <p class="mb-3 max-w-prose wrap-anywhere">
        <bdi>{description}</bdi>
      </p>
      <Facts
        facts={[
          ["State", <Status key="state" {...wordOf(model)} />],
          [
            "Id",
            <code key="id" class="font-mono text-xs break-all sm:text-sm">
              {id}
            </code>,
          ],
          ["Kind", kind],
          ["Modes", modes.join(", ")],
          ["Files it takes", inputs.map(({ field, media }) => `${field} (${media})`).join(", ")],
          ["A task may take", spanText(deadline)],
          [
            "Created at",
            <code key="path" class="font-mono text-xs break-all sm:text-sm">
              POST {path}
            </code>,
          ],
          ["Comes from", file === undefined ? "built in" : `${file} in the data folder`],
          [
            "More",
            <span key="more" class="flex flex-wrap gap-x-6 gap-y-2">
              <Link href={hrefOf("tasks", "", { model: id })}>Its tasks</Link>
              <Link href={hrefOf("gallery", "", { model: id })}>Its results</Link>
              <Link href={hrefOf("changes", "", { object: id })}>Who changed it</Link>
            </span>,
          ],
        ]}
      />
    </div>
  );
}
