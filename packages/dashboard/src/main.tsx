// The page at the admin address.
import { render } from 'preact';

const root = document.getElementById('app');
if (root !== null) render(<h1>Sluice</h1>, root);
