// A button on each block copies it; of a console it copies the commands alone, without prompts and output.
"use strict";

function copied(block) {
  const text = block.querySelector("pre").innerText;
  if (!block.className.includes("highlight-console")) return text;
  const commands = [];
  let continued = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("$ ")) commands.push(line.slice(2));
    else if (continued) commands.push(line);
    continued = commands.length > 0 && (line.startsWith("$ ") || continued) && line.endsWith("\\");
  }
  return commands.join("\n") + "\n";
}

function offer(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(copied(block));
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(button);
}

document.addEventListener("DOMContentLoaded", () => {
  if (navigator.clipboard) document.querySelectorAll("div[class*=highlight-]").forEach(offer);
});
