import {
  Accordion,
  Alert,
  Badge,
  Breadcrumb,
  Button,
  ButtonGroup,
  Card,
  Carousel,
  Col,
  Container,
  Form,
  ListGroup,
  Nav,
  Navbar,
  Pagination,
  ProgressBar,
  Row as Line,
  Spinner,
  Tab,
  Table,
  Tabs,
} from 'react-bootstrap';
import { rows, type LibraryPage, type Row } from './rows.ts';

function Page({ data }: { data: Row[] }): React.ReactNode {
  return (
    <Container>
      <Navbar bg="light" expand="lg">
        <Navbar.Brand href="/">Shop</Navbar.Brand>
        <Navbar.Collapse>
          <Nav>
            <Nav.Link href="/orders">Orders</Nav.Link>
            <Nav.Link href="/customers">Customers</Nav.Link>
          </Nav>
        </Navbar.Collapse>
      </Navbar>
      <Breadcrumb>
        <Breadcrumb.Item href="/">Home</Breadcrumb.Item>
        <Breadcrumb.Item active>Orders</Breadcrumb.Item>
      </Breadcrumb>
      <Alert variant="warning">Three orders are late</Alert>
      <Line>
        {data.slice(0, 8).map((row) => (
          <Col key={row.id} md={3}>
            <Card>
              <Card.Header>{row.city}</Card.Header>
              <Card.Body>
                <Card.Title>{row.name}</Card.Title>
                <Card.Text>{row.amount}</Card.Text>
                <ProgressBar now={row.id % 100} />
                <Badge bg="success">{row.open ? 'open' : 'closed'}</Badge>
                <ButtonGroup>
                  <Button>Open</Button>
                  <Button variant="secondary">Close</Button>
                </ButtonGroup>
              </Card.Body>
            </Card>
          </Col>
        ))}
      </Line>
      <Table striped>
        <thead>
          <tr>
            <th>Name</th>
            <th>City</th>
            <th>Amount</th>
          </tr>
        </thead>
        <tbody>
          {data.map((row) => (
            <tr key={row.id}>
              <td>{row.name}</td>
              <td>
                <Badge>{row.city}</Badge>
              </td>
              <td>
                <Button size="sm">{row.amount}</Button>
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      <Tabs defaultActiveKey="day" id="tabs">
        <Tab eventKey="day" title="Day">
          Today
        </Tab>
        <Tab eventKey="week" title="Week">
          Week
        </Tab>
      </Tabs>
      <Accordion defaultActiveKey="0">
        {data.slice(0, 4).map((row, at) => (
          <Accordion.Item key={row.id} eventKey={String(at)}>
            <Accordion.Header>{row.name}</Accordion.Header>
            <Accordion.Body>{row.city}</Accordion.Body>
          </Accordion.Item>
        ))}
      </Accordion>
      <ListGroup>
        {data.slice(0, 8).map((row) => (
          <ListGroup.Item key={row.id} action>
            {row.name}
          </ListGroup.Item>
        ))}
      </ListGroup>
      <Form>
        <Form.Group controlId="name">
          <Form.Label>Name</Form.Label>
          <Form.Control placeholder="Name" />
        </Form.Group>
        <Form.Check type="switch" id="open" label="Open ones" />
        <Form.Select>
          <option>1</option>
          <option>2</option>
        </Form.Select>
      </Form>
      <Carousel>
        {data.slice(0, 3).map((row) => (
          <Carousel.Item key={row.id}>{row.name}</Carousel.Item>
        ))}
      </Carousel>
      <Pagination>
        {[1, 2, 3, 4].map((at) => (
          <Pagination.Item key={at} active={at === 2}>
            {at}
          </Pagination.Item>
        ))}
      </Pagination>
      <Spinner />
    </Container>
  );
}

const page: LibraryPage<Row[]> = { data: (seed) => rows(seed), element: (data) => <Page data={data} /> };
export const pages = { 'library bootstrap': page };
