const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/**
 * Returns a function that takes the bytes of one connection as they come and reports each whole response. It knows only
 * responses with a Content-Length, and those that never have a body, which is all that is asked for here.
 */
export function createResponseReader(
  hasBody: boolean,
  onResponse: (status: number, head: string) => void,
): (chunk: Buffer) => void {
  let unread: Buffer | undefined;
  let bodyLeft = 0;
  let status = 0;
  let head = "";

  return (chunk) => {
    let bytes = unread === undefined ? chunk : Buffer.concat([unread, chunk]);
    unread = undefined;
    while (bytes.length > 0) {
      if (bodyLeft === 0) {
        const headEnd = bytes.indexOf(HEAD_END);
        if (headEnd === -1) {
          // Copied, since the socket uses its buffer again.
          unread = Buffer.from(bytes);
          return;
        }
        head = bytes.toString("latin1", 0, headEnd);
        status = Number(head.slice(9, 12));
        const length = hasBody ? LENGTH.exec(head)?.[1] : "0";
        if (length === undefined) throw new Error(`A response without Content-Length: ${head}`);
        bodyLeft = Number(length);
        bytes = bytes.subarray(headEnd + HEAD_END.length);
      }
      const taken = Math.min(bodyLeft, bytes.length);
      bodyLeft -= taken;
      bytes = bytes.subarray(taken);
      if (bodyLeft === 0) onResponse(status, head);
    }
  };
}
