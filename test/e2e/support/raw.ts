/** Sends bytes as they are on a connection of its own. @returns all that comes back until the server closes it */
export async function sendRaw(port: number, text: string): Promise<string> {
  const ended = Promise.withResolvers<string>();
  let answer = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, chunk) {
        answer += chunk.toString("latin1");
      },
      close: () => ended.resolve(answer),
      error: (_, error) => ended.reject(error),
    },
  });
  socket.write(text);
  return ended.promise;
}
