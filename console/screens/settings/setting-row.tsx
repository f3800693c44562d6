import { CodeBlock } from "../../parts/code-block.tsx";
import { RowLink } from "../../parts/link.tsx";
import { Status } from "../../parts/status.tsx";
import { hrefOf } from "../../shell/router.ts";
import { MASK, type Setting, valueText } from "./list.ts";

/** A setting: what it decides, its value, where that was given, and when a change takes effect. */
export function SettingRow({ setting }: { readonly setting: Setting }) {
  const { key, description, source, where, restart } = setting;
  return (
    <li class="grid grid-cols-1 gap-x-6 gap-y-1.5 border-b border-line px-4 py-3 last:border-0 lg:grid-cols-[minmax(0,5fr)_minmax(0,4fr)_minmax(0,4fr)]">
      <div class="min-w-0">
        <RowLink href={hrefOf("settings", "", { q: key })}>
          <code class="font-mono text-[0.875em]">{key}</code>
        </RowLink>
        {description !== null && <p class="text-soft wrap-anywhere">{description}</p>}
      </div>
      <div class="min-w-0">
        <span class="sr-only">Value: </span>
        <Value setting={setting} />
      </div>
      <div class="min-w-0 text-sm">
        <p class="wrap-anywhere">
          <span class="sr-only">From: </span>
          {source === "default" ? (
            <span class="text-soft">default</span>
          ) : (
            <Origin source={source} where={where} />
          )}
        </p>
        <p class="text-soft wrap-anywhere">
          {restart === null ? "takes effect at once" : `needs a restart: ${restart}`}
        </p>
      </div>
    </li>
  );
}

function Origin({ source, where }: Pick<Setting, "source" | "where">) {
  return (
    <>
      <span class="font-medium">{source}</span>
      {where !== null && (
        <>
          {" "}
          <bdi class="font-mono text-[0.9375em]">{where}</bdi>
        </>
      )}
    </>
  );
}

function Value({ setting: { key, value, source, default: standard } }: { readonly setting: Setting }) {
  if (value === MASK) return <Status word="set, and never shown" tone="good" />;
  // Where nothing was given, the default in words says more than nothing.
  if (value === null) return <bdi class="text-soft wrap-anywhere">{standard ?? "not set"}</bdi>;
  const text = valueText(value);
  const isLong = text.includes("\n");
  return (
    <>
      {isLong ? (
        <details>
          <summary>{text.split("\n").length} lines</summary>
          <CodeBlock label={key} text={text} />
        </details>
      ) : (
        <bdi class="font-medium wrap-anywhere">{text}</bdi>
      )}
      {source !== "default" && standard !== null && (
        <p class="text-sm text-soft wrap-anywhere">default: {standard}</p>
      )}
    </>
  );
}
