import { useReading } from "../../api/use.ts";
import { Link } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { NewKey } from "./new-key.tsx";
import { OneKey } from "./one-key.tsx";
import { readKey } from "./read.ts";

/** One API key; `new` makes one. */
export function Screen({ item }: ScreenProps) {
  return item === "new" ? <NewKey /> : <KeyPage id={item} />;
}

function KeyPage({ id }: { readonly id: string }) {
  const reading = useReading(id, (signal) => readKey(id, signal));
  const { data, problem, again } = reading;
  if (data !== undefined)
    return <OneKey data={data} onChange={(key) => reading.change((before) => ({ ...before, key }))} />;
  return (
    <Page title="Key">
      <p>
        <Link href={hrefOf("keys")}>← All keys</Link>
      </p>
      {problem === undefined ? <Reading what="the key" /> : <Trouble problem={problem} again={again} />}
    </Page>
  );
}
