import { useState } from "react";

export default function Native() {
  const [name, setName] = useState("");
  return (
    <form className="flex flex-col gap-3" onSubmit={(e) => e.preventDefault()}>
      <h2>Plain HTML</h2>
      <label className="flex flex-col gap-1 text-sm font-semibold">
        Name
        <input value={name} onChange={(e) => setName(e.target.value)} />
      </label>
      <label>
        <input type="checkbox" /> Tea
      </label>
      <ul>
        <li>first</li>
        <li>
          second, with <code>code</code> and a <a href="#more">link</a>
        </li>
      </ul>
      <button type="submit">{name ? `Hello, ${name}` : "Say hello"}</button>
    </form>
  );
}
