/** Installs each supported minor of React, once before all tests, which run beside each other. */
import { install, minors } from '../../../react/test/versions/install.js';

for (const minor of minors) install(minor);
