"use strict";
// The simulator as WebAssembly: texts of requests and answers lie in memory that both sides see.
var tidegateModule = async (bytes) => {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const { memory, room, file, ask, answer, answer_bytes } = instance.exports;
  const write = new TextEncoder(), read = new TextDecoder();

  // Room first: where the memory grows for it, its buffer is another one.
  const handIn = (content) => {
    const place = room(content.length);
    new Uint8Array(memory.buffer, place, content.length).set(content);
  };
  const handedOut = (length) => {
    const place = answer();
    return read.decode(new Uint8Array(memory.buffer, place, length));
  };
  const called = (call) => {
    try {
      return handedOut(call());
    } catch (fault) {
      // a panic leaves its message; what the machine itself refuses, such as memory, leaves none
      const message = handedOut(answer_bytes());
      throw new Error(message.startsWith("panicked") ? message : `the simulator broke off: ${fault.message}`);
    }
  };

  return {
    memoryBytes: () => memory.buffer.byteLength,
    // The answer as text: a table may be CSV.
    text: (request) => called(() => { handIn(write.encode(JSON.stringify(request))); return ask(); }),
    ask(request) { return JSON.parse(this.text(request)); },
    file: (name, content) => {
      const named = write.encode(name);
      const both = new Uint8Array(named.length + content.length);
      both.set(named);
      both.set(content, named.length);
      return JSON.parse(called(() => { handIn(both); return file(named.length); }));
    },
  };
};
