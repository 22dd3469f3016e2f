/** The gate of the house, with what grows in it. Its light shows the status, which stands beside in words. */
import type { VNode } from 'preact';

export function GateDrawing(): VNode {
  return (
    <svg class="gate" viewBox="0 0 320 340" aria-hidden="true">
      <defs>
        <radialGradient id="gate-light" cx="0.5" cy="0.62" r="0.6">
          <stop offset="0" class="gate-light-near" />
          <stop offset="1" class="gate-light-far" />
        </radialGradient>
      </defs>
      <path class="gate-light" d="M62 338V162a98 98 0 0 1 196 0v176Z" fill="url(#gate-light)" />
      <path class="gate-arch" d="M62 338V162a98 98 0 0 1 196 0v176" />
      <path class="gate-arch gate-arch-outer" d="M46 338V162a114 114 0 0 1 228 0v176" />
      <g class="gate-plants">
        <path
          class="gate-stems"
          d="M160 338c-2-44 4-84-2-128M104 338c1-22-3-42-14-58M220 338c-1-30 4-54 14-74"
        />
        <path d="M160 300c-18-4-30-18-32-38 20 2 32 14 32 38ZM159 268c16-6 27-19 29-40-20 3-30 18-29 40ZM158 236c-15-5-24-16-25-33 17 2 26 14 25 33ZM158 212c2-18 12-28 28-30-1 18-11 29-28 30Z" />
        <path d="M102 312c13-3 21-12 23-26-14 1-23 11-23 26ZM97 294c-12 0-20-7-24-19 13-2 22 5 24 19Z" />
        <path d="M222 306c-14-3-23-13-24-28 15 1 24 12 24 28ZM228 280c14 0 24-8 27-23-15-1-25 8-27 23Z" />
      </g>
      <g class="gate-seeds">
        <circle cx="126" cy="174" r="3.2" />
        <circle cx="196" cy="148" r="2.6" />
        <circle cx="160" cy="122" r="3" />
        <circle cx="210" cy="214" r="2.2" />
        <circle cx="108" cy="226" r="2.4" />
      </g>
      <path class="gate-ground" d="M8 338h304" />
    </svg>
  );
}
