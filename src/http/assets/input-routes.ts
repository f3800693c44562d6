import { INPUT_PATH, type InputAddresses } from "../../service/input-addresses.ts";
import { type Endpoint, open } from "../exchange.ts";
import { serveFile } from "./routes.ts";
import { READ_INPUT } from "./wire.ts";

/** GET (and HEAD) of the address at which a provider fetches an input of a task. */
export function inputEndpoints({ inputAddresses }: { inputAddresses: InputAddresses }): Endpoint[] {
  return [
    open(`${INPUT_PATH}:file`, READ_INPUT, async ({ request, param }) => {
      const { file, content } = await inputAddresses.read(param("file"));
      const headers = {
        "Content-Type": file.type,
        "Cache-Control": "private, no-store",
        ETag: `"${file.sha256}"`,
        "Accept-Ranges": "bytes",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
      };
      const deliver = async () => ({ kind: "content", content }) as const;
      return serveFile(request, { sizeBytes: file.sizeBytes, headers, deliver });
    }),
  ];
}
