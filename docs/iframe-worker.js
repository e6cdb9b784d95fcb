// The search of the site runs in a worker, which a browser does not start from a file. Where a page is
// opened as a file, a hidden frame stands for the worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.postMessage = (data) => this.tell(new MessageEvent("message", { data }));
      this.inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(each)));
      this.load(String(url)).then(() => this.begin());
    }
    load(url) {
      const script = this.inside.document.createElement("script");
      const loaded = new Promise((done, failed) => Object.assign(script, { onload: done, onerror: failed }));
      script.src = url;
      this.inside.document.body.append(script);
      return loaded;
    }
    begin() {
      for (const data of this.waiting.splice(0)) this.give(data);
      this.waiting = null;
    }
    give(data) {
      this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }
    postMessage(data) {
      this.waiting ? this.waiting.push(data) : this.give(data);
    }
    tell(event) {
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
