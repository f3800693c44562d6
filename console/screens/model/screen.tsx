import { useEffect } from "preact/hooks";
import { useEvery, useReading } from "../../api/use.ts";
import { Link } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { NewModel } from "./new-model.tsx";
import { OneModel } from "./one-model.tsx";
import { NEW, readKnown } from "./read.ts";

/** How soon the server takes up a file, in milliseconds, with some to spare. */
const TAKEN_UP_MS = 2_300;
const LOOK_AGAIN_MS = 10_000;

/** One model; `~new` writes one. */
export function Screen({ item }: ScreenProps) {
  return item === NEW ? <NewModel /> : <ModelPage id={item} />;
}

function ModelPage({ id }: { readonly id: string }) {
  const reading = useReading(id, (signal) => readKnown(id, signal));
  const { data, problem, again } = reading;
  useEvery(LOOK_AGAIN_MS, reading);
  const text = data?.manifest?.text;
  // After the text was read or saved, the server may be about to take it up.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is the reason
  useEffect(() => {
    if (text === undefined) return;
    const due = setTimeout(again, TAKEN_UP_MS);
    return () => clearTimeout(due);
  }, [text]);
  if (data !== undefined)
    return <OneModel id={id} known={data} problem={problem} again={again} onChange={reading.change} />;
  return (
    <Page title="Model">
      <p>
        <Link href={hrefOf("models")}>← All models</Link>
      </p>
      {problem === undefined ? <Reading what="the model" /> : <Trouble problem={problem} again={again} />}
    </Page>
  );
}
