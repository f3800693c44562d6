/** A server that takes mail, as far as a client that sends one needs it. */
export function startMailServer() {
  const mails: string[] = [];
  let wake = () => {};
  const server = Bun.listen<{ text: string; isMail: boolean }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { text: "", isMail: false };
        socket.write("220 mail.example.com\r\n");
      },
      data(socket, chunk) {
        socket.data.text += chunk.toString("utf8");
        for (;;) {
          const end = socket.data.isMail ? "\r\n.\r\n" : "\r\n";
          const at = socket.data.text.indexOf(end);
          if (at === -1) return;
          const said = socket.data.text.slice(0, at);
          socket.data.text = socket.data.text.slice(at + end.length);
          if (socket.data.isMail) {
            mails.push(said);
            wake();
          }
          socket.data.isMail = said === "DATA";
          socket.write(answerTo(said));
        }
      },
    },
  });
  return {
    url: `smtp://127.0.0.1:${server.port}`,
    /** The first mail, once it is there. */
    async first(): Promise<string> {
      while (mails[0] === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return mails[0];
    },
    stop: () => server.stop(true),
  };
}

function answerTo(said: string): string {
  if (said === "DATA") return "354 go on\r\n";
  return said === "QUIT" ? "221 bye\r\n" : "250 ok\r\n";
}
